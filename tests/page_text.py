"""Reading a page as a program can: its elements and their text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "input", "img", "br", "hr", "wbr"}


@dataclass
class Element:
    """An element: its tag, attributes, what is in it, and all text in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text, with single spaces."""
        return " ".join(self._text().split())

    def _text(self) -> str:
        return "".join(child if isinstance(child, str) else child._text() for child in self.children)

    def every(self, tag: str = "", **attributes: str) -> list[Element]:
        """Elements below of this tag and with these attributes, in order; ``class_`` is one of its classes."""
        found: list[Element] = []
        for child in self.children:
            if isinstance(child, Element):
                found += [child] if child._is(tag, attributes) else []
                found += child.every(tag, **attributes)
        return found

    def one(self, tag: str = "", **attributes: str) -> Element:
        """The one element below of this tag and with these attributes."""
        (found,) = self.every(tag, **attributes)
        return found

    def _is(self, tag: str, attributes: dict[str, str]) -> bool:
        has = self.attributes
        return tag in ("", self.tag) and all(
            value in has.get("class", "").split() if name == "class_" else has.get(name.replace("_", "-")) == value
            for name, value in attributes.items()
        )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(found)
        if tag not in _VOID:
            self.open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Element:
    """The page as an element; its tags must match."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> is not closed"
    return reader.open[0]
