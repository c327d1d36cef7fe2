"""An HTML page read back: its elements, what refers to other places, its texts, and its counts of rows."""

from __future__ import annotations

from html.parser import HTMLParser

_EMPTY = {"meta", "path", "use", "rect", "line", "image", "br", "hr", "img", "wbr"}


class Page(HTMLParser):
    """A page that is well formed and has no handlers; counts of rows are what elements of class ``rows`` hold."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.places: list[str] = []
        self.classes: list[str] = []
        self.rows: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.places += [found[name] for name in ("src", "href", "xlink:href", "data", "action") if found.get(name)]
        assert not any(name.startswith("on") for name in found), f"{tag} has a handler"
        if tag not in _EMPTY:
            self.open.append(tag)
            self.classes.append(found.get("class") or "")

    def handle_endtag(self, tag):
        if tag not in _EMPTY:
            assert self.open.pop() == tag
            self.classes.pop()

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data.strip())
            if self.classes and "rows" in self.classes[-1].split():
                self.rows.append(data.strip())
