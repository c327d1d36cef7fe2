"""Code metrics: imports between packages, long functions, and how often the field's words occur.

Run it with: python experiments/code_metrics.py [ROOT]

ROOT is a clone of the repository, by default this one; two clones can so be compared. An import edge is a module that
imports from another one, counted once however many names it takes, and left out where it serves types alone. A module
that lies in no package counts as a package of its own. A function is as long as the lines from its `def` to its end,
docstring included; the second figure leaves the docstring out. Words are counted in the Python source and templates
of the package, and in the pages written by people, whatever their case.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

PACKAGE = "pnsight"
MAX_LINES = 40
"""A function with more lines is named."""

WORDS = {
    "cross-validation": r"cross[-\s_]validat\w*",
    "propensity": r"propensit(?:y|ies)",
    "covariate shift": r"covariate[-\s_]shifts?",
    "confidence interval": r"confidence[-\s_]intervals?",
    "hyperparameter": r"hyper-?parameters?",
    "partial identification": r"partial(?:ly)?[-\s_]identif\w+",
    "exchangeability": r"exchangeab\w+",
    "law": r"laws?",
    "rung, ladder": r"rungs?|ladders?",
    "foretell, foretold": r"foretells?|foretold",
    "by lot": r"by\s+lot",
}
"""Terms of the field, then words of the house, each as a pattern of whole words."""

Edge = tuple[str, str]


def main() -> None:
    """Print the three counts of a clone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent, help="root of a clone")
    root: Path = parser.parse_args().root
    source = root / "src" / PACKAGE
    if not source.is_dir():
        parser.error(f"{str(root)!r} has no folder src/{PACKAGE}; give the root of a clone.")
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(source.rglob("*.py"))}
    print_imports(import_edges(source, trees))
    print_long_functions(source, trees)
    print_words(count_words(texts(root)))


def import_edges(source: Path, trees: Mapping[Path, ast.Module]) -> set[Edge]:
    """Import edges: the modules of a package that import each other.

    Parameters
    ----------
    source
        Folder of the package.
    trees
        Its modules, parsed, by path.

    Returns
    -------
    set of (importing module, imported module)
        Names relative to the package, such as ``("models.plug_in", "data.law")``; the package's own file is ``""``.
    """
    modules = {path: module_name(source, path) for path in trees}
    known = set(modules.values())
    found = set[Edge]()
    for path, tree in trees.items():
        inside = path.relative_to(source.parent).parent.parts
        targets = (nearest_module(name, known) for name in imported_names(tree, inside))
        found |= {(modules[path], target) for target in targets if target is not None and target != modules[path]}
    return found


def module_name(source: Path, path: Path) -> str:
    """A module's name relative to the package."""
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def imported_names(tree: ast.AST, inside: tuple[str, ...]) -> Iterator[str]:
    """Full names that a module imports while it runs; `inside` is the package it lies in, for relative imports."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = inside[: len(inside) - node.level + 1] if node.level else ()
            home = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{home}.{alias.name}" for alias in node.names)
        else:
            yield from imported_names(node, inside)


def nearest_module(name: str, known: set[str]) -> str | None:
    """The module of the package that a full name is, or lies in; None for other packages."""
    if name.split(".")[0] != PACKAGE:
        return None
    parts = name.split(".")[1:]
    return next((".".join(parts[:n]) for n in range(len(parts), -1, -1) if ".".join(parts[:n]) in known), None)


def package_of(module: str) -> str:
    """The package at depth one that a module lies in, or the module itself if it lies in none."""
    return module.split(".")[0] or "__init__"


def print_imports(edges: Iterable[Edge]) -> None:
    """Print the import edges between packages, most first, and the pairs that import each other."""
    pairs = Counter((package_of(importer), package_of(imported)) for importer, imported in edges)
    between = Counter({pair: n for pair, n in pairs.items() if pair[0] != pair[1]})
    packages = {package for pair in pairs for package in pair}
    print(f"import edges between {len(packages)} packages: {between.total()}, in {len(between)} pairs of packages")
    for (importer, imported), number in sorted(between.items(), key=lambda item: (-item[1], item[0])):
        print(f"{number:6}  {importer} -> {imported}")
    mutual = sorted(pair for pair in between if pair[0] < pair[1] and pair[::-1] in between)
    print(f"packages that import each other: {', '.join(' and '.join(pair) for pair in mutual) or 'none'}\n")


def long_functions(source: Path, trees: Mapping[Path, ast.Module]) -> list[tuple[int, int, str]]:
    """Functions over `MAX_LINES` lines, longest first, as (lines, lines without the docstring, file and name)."""
    found = [
        (lines_of(node), lines_of(node) - docstring_lines(node), f"{path.relative_to(source)} {node.name}")
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted((one for one in found if one[0] > MAX_LINES), reverse=True)


def lines_of(node: ast.stmt) -> int:
    """Lines from the beginning of a statement to its end."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's docstring, zero if it has none."""
    return 0 if ast.get_docstring(node) is None else lines_of(node.body[0])


def print_long_functions(source: Path, trees: Mapping[Path, ast.Module]) -> None:
    """Print the functions over `MAX_LINES` lines."""
    found = long_functions(source, trees)
    code = sum(without > MAX_LINES for _, without, _ in found)
    print(f"functions over {MAX_LINES} lines: {len(found)}; without their docstrings: {code}")
    for lines, without, name in found:
        print(f"{lines:6}{without:6}  {name}")
    print()


def texts(root: Path) -> dict[str, list[str]]:
    """The texts of a clone: the package's source with its templates, and the pages written by people."""
    source = [path for ending in ("py", "html") for path in (root / "src").rglob(f"*.{ending}")]
    pages = [path for path in [*root.glob("*.md"), *(root / "docs").rglob("*.md")] if "_build" not in path.parts]
    return {
        "source": [path.read_text(encoding="utf-8") for path in source],
        "documentation": [path.read_text(encoding="utf-8") for path in pages],
    }


def count_words(found: Mapping[str, list[str]]) -> dict[str, dict[str, int]]:
    """How often each entry of `WORDS` occurs, by word and by kind of text."""
    patterns = {
        word: re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE) for word, pattern in WORDS.items()
    }
    return {
        word: {kind: sum(len(pattern.findall(text)) for text in several) for kind, several in found.items()}
        for word, pattern in patterns.items()
    }


def print_words(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print how often each word occurs in source, in documentation and in both."""
    print(f"{'words':<24}{'source':>8}{'documentation':>15}{'together':>10}")
    for word, kinds in counts.items():
        print(f"{word:<24}{kinds['source']:>8}{kinds['documentation']:>15}{sum(kinds.values()):>10}")


if __name__ == "__main__":
    main()
