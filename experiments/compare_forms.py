"""Compare two forms of pnsight through the command line alone: whether the same commands give the same answers.

Run it with: python experiments/compare_forms.py --first OTHER/src --second src [--data FOLDER] [--tolerance 1e-12]

Each command is run as `python -m pnsight` under both source trees, with the interpreter that runs this program and on
the same tables, which the first form simulates from every population of the catalog and one random one. With --data, a
folder that holds `wsc.csv` and `ist.csv.gz`, the commands of the two how-to pages are run as well.

Compared are exit codes, names of columns, words (a status, a decision, a query), numbers, and sentences. Numbers may
differ by the tolerance. Columns and entries that only the second form has are counted as added. Sentences may be worded
anew, so they are listed and not held against the second form; the rest makes the program end with exit code 1.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

POPULATIONS = ("confounder", "covariate", "direct", "direct-positive", "mediator", "index-dependent:3")
QUANTITIES = ("pns", "pn", "ps", "pd", "pe", "harm")
PAYOFFS = "--payoffs 100,-60,0,-140"
ROWS = 20_000
SIMULATE = f"simulate {{population}} --experimental {ROWS} --observational {ROWS} --seed 1 --out simulated"
TABLES = ("experimental.parquet", "observational.parquet")
COLUMNS = "--treatment x --outcome y"
DOCS = Path(__file__).parent.parent / "docs"
HOW_TOS = {"howto-wsc.md": "wsc.csv", "howto-stroke.md": "ist.csv.gz"}
"""The pages whose commands are run, and the table each begins with."""

HOW_TO_MODELS = {"howto-wsc.md": "three", "howto-stroke.md": "model"}
HOW_TO_COMMANDS = (
    *(f"query {{model}} --space mask --quantity {quantity}" for quantity in QUANTITIES),
    f"query {{model}} --space mask {PAYOFFS}",
    "query {model} --space mask --refine covariates",
    *(f"query {{model}} --space mask --assume {name}" for name in ("monotone", "exogenous", "monotone,exogenous")),
    "query {model} --assume monotone --quantity pn",
    "decide {model} --space mask --threshold 0.2",
    "rank {model}",
    "select {model} --budget 0.2",
)
"""What is asked of a page's model with all covariates, beside what the page asks itself."""

PRINT_TABLES = ("oracle", "query", "decide", "ask", "rank", "select", "check", "plan")
"""Commands that take --format."""

CATALOG_COMMANDS = (
    *(f"oracle {{population}} --space exact --quantity {quantity}" for quantity in QUANTITIES),
    f"oracle {{population}} --space exact {PAYOFFS}",
    "oracle {population} --space mask",
    "oracle {population} --space mask --refine covariates",
    f"check {{tables}} {COLUMNS}",
    f"check {{tables}} {COLUMNS} --format json",
    f"fit {{tables}} {COLUMNS} --model plug-in --out rows",
    f"fit {{tables}} {COLUMNS} --model plug-in --mix profiles --out profiles",
    f"fit {{trial}} {COLUMNS} --model plug-in --out alone",
    f"fit {{registry}} {COLUMNS} --model plug-in --observational-only --out registry",
    "query rows --space mask",
    *(f"query rows --space exact --quantity {quantity}" for quantity in QUANTITIES),
    *(f"query profiles --space exact --quantity {quantity}" for quantity in ("pns", "ps", "pd")),
    *(f"query {model} --space exact {PAYOFFS}" for model in ("rows", "profiles", "alone")),
    "query profiles --space mask --quantity pn",
    *(f"query rows --space exact --assume {name}" for name in ("monotone", "exogenous", "monotone,exogenous")),
    "query alone --space exact --assume monotone",
    "query registry --space mask --assume exogenous",
    "query profiles --space mask --refine covariates",
    "query alone --space mask --refine covariates",
    f"query rows --space exact --refine covariates {PAYOFFS}",
    "query profiles 1XXXXXXXXX XXX1XXXXX0 --quantity pn --refine covariates",
    "query rows '' 1XXXXXXXX0 --format json",
    "query rows --space observed",
    "query alone --space exact --quantity harm",
    "decide rows --space exact",
    "decide rows --space exact --quantity harm --threshold 0.1",
    f"decide profiles --space exact {PAYOFFS} --cost 5",
    "decide rows '' 1XXXXXXXXX --words",
    "ask rows 1XXXXXXXXX",
    "ask rows 1X0XXXXXXX --without",
    *(f"rank rows --by {by}" for by in ("lower", "upper", "harm")),
    f"rank profiles --by benefit {PAYOFFS}",
    *(f"select rows --budget 0.2 --by {by}" for by in ("guaranteed", "net", "best_case")),
    "select profiles --budget 300 --people 1000 --curve",
)
"""What is asked about each population; {trial}, {registry} and {tables} are the tables simulated from it."""

MISTAKES = (
    "query rows --quantity benefit",
    "query alone --quantity pn",
    "query rows --payoffs 1,2,3",
    "query rows nobody=1",
    "fit {trial} --treatment nothing --outcome y --model plug-in --out wrong",
    "oracle nowhere",
)
"""What must end with exit code 2 and a message."""


@dataclass(frozen=True)
class Form:
    """One of the two source trees, and the folder in which its commands are run."""

    source: Path
    folder: Path

    def run(self, arguments: Sequence[str], place: str) -> Output:
        """Run one command in the folder of that place."""
        where = self.folder / place
        where.mkdir(parents=True, exist_ok=True)
        ended = subprocess.run(
            [sys.executable, "-m", "pnsight", *arguments],
            cwd=where,
            env=environment(self.source),
            capture_output=True,
            text=True,
            check=False,
        )
        return Output(ended.returncode, ended.stdout, ended.stderr)


@dataclass(frozen=True)
class Output:
    """What a command left: its exit code, its result and its messages."""

    code: int
    result: str
    messages: str


@dataclass
class Comparison:
    """What two outputs differ in; `words` are differences that count, `sentences` those that do not."""

    command: str
    place: str
    codes: tuple[int, int]
    numbers: int = 0
    largest: float = 0.0
    added: int = 0
    words: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)

    def differs(self, tolerance: float) -> bool:
        """Whether the second form gives another answer."""
        return self.codes[0] != self.codes[1] or bool(self.words) or not self.largest <= tolerance


def environment(source: Path) -> dict[str, str]:
    """Variables of a command: this source tree, one thread, a plain screen of one width."""
    settings = {"PYTHONPATH": str(source), "COLUMNS": "100", "NO_COLOR": "1", "OMP_NUM_THREADS": "1", "NPROC": "1"}
    return {**os.environ, **settings}


def main() -> None:
    """Run all commands under both forms and report."""
    options = read_options()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        forms = [
            Form(source.resolve(), Path(scratch) / name) for name, source in vars(options).items() if name in FORMS
        ]
        for form in forms:
            check_source(form)
        found = compare_catalog(forms, options.populations)
        if options.data is not None:
            found += compare_how_tos(forms, options.data, options.learned)
    differing = report(found, options.tolerance)
    print(f"{len(found)} commands compared in {time.perf_counter() - began:.0f} s")
    sys.exit(1 if differing else 0)


FORMS = ("first", "second")


def read_options() -> argparse.Namespace:
    """The arguments of this program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in FORMS:
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="SRC", help="folder that holds pnsight/")
    parser.add_argument("--tolerance", type=float, default=1e-12, help="largest difference of a number [1e-12]")
    parser.add_argument("--populations", nargs="+", default=POPULATIONS, help="instead of the whole catalog")
    parser.add_argument("--data", type=Path, help="folder with the tables of the how-to pages")
    parser.add_argument("--learned", action="store_true", help="also the how-tos' response-type models: minutes more")
    return parser.parse_args()


def check_source(form: Form) -> None:
    """Refuse a source tree that Python would not import pnsight from."""
    code = "import pnsight; print(pnsight.__file__)"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment(form.source), capture_output=True, text=True, check=False
    )
    if not Path(ended.stdout.strip()).is_relative_to(form.source):
        sys.exit(f"{str(form.source)!r} is not where pnsight is imported from; give a folder that holds pnsight/.")


def compare_catalog(forms: Sequence[Form], populations: Sequence[str]) -> list[Comparison]:
    """Simulate from every population, then ask about it; populations side by side, mistakes about one of them."""
    asked = [
        (name, CATALOG_COMMANDS if place else (*CATALOG_COMMANDS, *MISTAKES)) for place, name in enumerate(populations)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [one for several in pool.map(lambda each: compare_population(forms, *each), asked) for one in several]


def compare_population(forms: Sequence[Form], population: str, commands: Iterable[str]) -> list[Comparison]:
    """All commands about one population, on the tables that the first form simulates."""
    place = population.replace(":", "-")
    found = [run_both(forms, SIMULATE, place, population=population)]
    paths = [f"../../{forms[0].folder.name}/{place}/simulated/{table}" for table in TABLES]
    for table in TABLES:
        found[0].words += different_files(*(form.folder / place / "simulated" / table for form in forms))
    values = {"population": population, "trial": paths[0], "registry": paths[1], "tables": " ".join(paths)}
    return found + [run_both(forms, command, place, **values) for command in commands]


def different_files(first: Path, second: Path) -> list[str]:
    """Whether two Parquet files hold different rows."""
    with duckdb.connect() as connection:  # one of its own, as populations are compared in threads
        rows = [connection.execute("FROM read_parquet(?)", [str(path)]).fetchall() for path in (first, second)]
    return [] if rows[0] == rows[1] else [f"{first.name} has other rows"]


def run_both(forms: Sequence[Form], command: str, place: str, **values: str) -> Comparison:
    """Run one command under both forms, and compare."""
    arguments = shlex.split(command.format(**values) if values else command)
    if arguments[0] in PRINT_TABLES and not {"--format", "--words"} & set(arguments):
        arguments += ["--format", "csv"]
    first, second = (form.run(arguments, place) for form in forms)
    return compare(command, place, first, second)


def compare_how_tos(forms: Sequence[Form], data: Path, learned: bool) -> list[Comparison]:
    """The commands of the how-to pages, one page after the other."""
    return [
        one
        for page, table in HOW_TOS.items()
        for one in compare_page(forms, (DOCS / page).read_text(encoding="utf-8"), page, data / table, learned)
    ]


def compare_page(forms: Sequence[Form], text: str, page: str, table: Path, learned: bool) -> Iterator[Comparison]:
    """Make the page's tables for both forms, then run its commands; those of learned models only if asked for."""
    commands, preparations = commands_of(text), re.findall(r"^python - <<'PYTHON'\n(.*?)^PYTHON$", text, re.M | re.S)
    for form in forms:
        where = form.folder / page
        where.mkdir(parents=True)
        shutil.copy(table, where)
        for code in preparations:
            subprocess.run([sys.executable, "-c", code], cwd=where, check=True)
    left_out = set[str]()
    for command in commands:
        arguments = shlex.split(command)
        if arguments[0] == "fit" and "--model" not in arguments and not learned:
            left_out.add(arguments[arguments.index("--out") + 1])
        elif arguments[1] not in left_out:
            yield run_both(forms, command, page)
    for command in HOW_TO_COMMANDS:
        yield run_both(forms, command, page, model=HOW_TO_MODELS[page])


def commands_of(text: str) -> list[str]:
    """The pnsight commands in the shell blocks of a page, each in one line."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [" ".join(line.split()[1:]) for line in lines if line.startswith("pnsight ")]


def compare(command: str, place: str, first: Output, second: Output) -> Comparison:
    """What two outputs of a command differ in."""
    found = Comparison(command, place, (first.code, second.code))
    if first.messages != second.messages:
        found.sentences += different_lines(first.messages, second.messages)
    if first.result == second.result:
        found.numbers = sum(isinstance(value, float) for _, value in entries(first.result))
        return found
    before, after = dict(entries(first.result)), dict(entries(second.result))
    found.added = len(after.keys() - before.keys())
    for name, value in before.items():
        compare_entry(found, name, value, after.get(name))
    return found


def compare_entry(found: Comparison, name: str, before: str | float, after: str | float | None) -> None:
    """Note how one entry differs, if it does."""
    if isinstance(before, float) and isinstance(after, float):
        found.numbers += 1
        if before != after:
            found.largest = max(found.largest, abs(before - after))
    elif before != after:
        sentence = isinstance(before, str) and isinstance(after, str) and " " in before
        (found.sentences if sentence else found.words).append(f"{name}: {before!r} became {after!r}")


def different_lines(first: str, second: str) -> list[str]:
    """Lines of messages that only one form has."""
    before, after = first.splitlines(), second.splitlines()
    gone, new = [line for line in before if line not in after], [line for line in after if line not in before]
    return [f"message: {gone} became {new}"]


def entries(result: str) -> Iterator[tuple[str, str | float]]:
    """The entries of a result by name: of JSON by path, of CSV by row and column, of text by line."""
    if result.startswith(("[", "{")):
        yield from json_entries(json.loads(result), "")
        return
    rows = list(csv.reader(io.StringIO(result)))
    if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
        for place, row in enumerate(rows[1:]):
            yield from ((f"row {place} {column}", entry(cell)) for column, cell in zip(rows[0], row, strict=True))
    else:
        yield from ((f"line {place}", line) for place, line in enumerate(result.splitlines()))


def json_entries(value: Any, path: str) -> Iterator[tuple[str, str | float]]:
    """The leaves of a JSON value, each with its path."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from json_entries(part, f"{path}.{key}")
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from json_entries(part, f"{path}[{place}]")
    else:
        yield path, entry(str(value)) if type(value) in (int, float) else str(value)


def entry(cell: str) -> str | float:
    """A cell as a number if it is a finite one; a query such as 0110 stays a word."""
    if cell.isdecimal() and len(cell) > 1 and cell[0] == "0":
        return cell
    try:
        return float(cell) if math.isfinite(float(cell)) else cell
    except ValueError:
        return cell


def report(found: Sequence[Comparison], tolerance: float) -> int:
    """Print a line for each command, then what differs; how many commands differ."""
    print(f"{'runs':>5}{'exit':>9}{'numbers':>10}{'largest':>10}{'words':>7}{'added':>7}{'worded':>8}  command")
    for command in dict.fromkeys(one.command for one in found):
        print(summary([one for one in found if one.command == command]))
    print_examples("differences", [one for one in found if one.differs(tolerance)], lambda one: one.words)
    print_examples("sentences that are worded anew", [one for one in found if one.sentences], lambda one: one.sentences)
    differing = sum(one.differs(tolerance) for one in found)
    largest = max((one.largest for one in found), default=0.0)
    print(
        f"\n{differing} commands differ; the largest difference of {sum(one.numbers for one in found):,} numbers is "
        f"{largest:.3g} (tolerance {tolerance:g})"
    )
    return differing


def summary(runs: Sequence[Comparison]) -> str:
    """One line about a command: its runs, exit codes, numbers, and differences."""
    codes = ",".join(sorted({str(a) if a == b else f"{a}!{b}" for a, b in (one.codes for one in runs)}))
    numbers, largest = sum(one.numbers for one in runs), max(one.largest for one in runs)
    words, added, worded = (
        sum(counts) for counts in zip(*((len(one.words), one.added, len(one.sentences)) for one in runs), strict=True)
    )
    return f"{len(runs):>5}{codes:>9}{numbers:>10}{largest:>10.2g}{words:>7}{added:>7}{worded:>8}  {runs[0].command}"


def print_examples(title: str, found: Sequence[Comparison], lines: Any) -> None:
    """Print the first differences of each kind, a few to a command."""
    print(f"\n{title}: {len(found) or 'none'}")
    for one in found[:20]:
        print(
            f"  {one.place}: {one.command}  (exit codes {one.codes[0]} and {one.codes[1]}, largest {one.largest:.3g})"
        )
        for line in lines(one)[:2]:
            print(f"      {line[:300]}")


if __name__ == "__main__":
    main()
