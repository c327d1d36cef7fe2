"""Kill -9: writers of one model folder end at random points, one alone or several at once.

A writer saves one numbered model after another. It dies by its own hand, at a random line of Python or before a random
change of a file, or by another's, at whatever it does after a random number of models. While it lives and after its
death the folder must hold one whole model; in the end that is one that was being written or had been written last.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from pnsight.models.persistence import load, save
from soaks.models import number_of, numbered
from soaks.soak import Findings, Soak

CHANGES = frozenset({"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree"})
"""Audit events of what changes files, before which a writer may die."""

SAVES = 3
"""Models within which a writer dies."""

Countdown = Callable[[Callable[[], None]], None]
"""Begins to call a function at every step of this process."""


@dataclass
class _Writer:
    """A process that writes the models from a number on, and tells which are done."""

    process: int
    progress: int
    first: int
    done: int = 0
    status: int | None = None

    def ended(self) -> bool:
        """Whether it is dead."""
        if self.status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self._end(status)
        return self.status is not None

    def kill_after(self, saves: int) -> None:
        """Kill it wherever it is after so many models."""
        for _ in range(saves):
            self._hear()
        os.kill(self.process, signal.SIGKILL)
        self._end(os.waitpid(self.process, 0)[1])

    def _hear(self) -> bool:
        told = os.read(self.progress, 8)
        self.done = struct.unpack("<q", told)[0] if told else self.done
        return bool(told)

    def _end(self, status: int) -> None:
        while self._hear():
            pass
        os.close(self.progress)
        self.status = status

    def could_have_written(self) -> set[int]:
        """The model that it wrote last, and the one at which it died."""
        last = self.done or self.first - 1
        return {last, last + 1}


def run(kills: int, writers: int, seed: int) -> Findings:
    """Kill writers and look at what they leave.

    Parameters
    ----------
    kills
        Processes to kill.
    writers
        At most so many write at once.
    seed
        Of the points at which they die.

    Returns
    -------
    Findings
    """
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        save(numbered(1), folder)
        ways: tuple[Countdown, ...] = (_at_lines, _at_changes)
        steps = {count_in: _steps_of_a_save(count_in, folder) for count_in in ways}
        rounds = _Rounds(folder, rng, steps)
        while rounds.killed < kills:
            rounds.one(min(1 + rounds.rounds % writers, kills - rounds.killed))
        return rounds.findings()


@dataclass
class _Rounds:
    """Rounds of killing, and what they found."""

    folder: Path
    rng: random.Random
    steps: dict[Countdown, int]
    rounds: int = 0
    killed: int = 0
    together: int = 0
    read_meanwhile: int = 0
    new_models: int = 0
    number: int = 1
    failures: list[str] = field(default_factory=list)

    def one(self, writers: int) -> None:
        """Some writers at once, until all are dead; whoever reads meanwhile finds a whole model, and so do we."""
        before = self.number
        from_outside = self.rng.random() < 1 / 3
        alive = [self._start(k, from_outside) for k in range(writers)]
        if from_outside:
            for writer in alive:
                writer.kill_after(self.rng.randint(1, SAVES))
        while not all(writer.ended() for writer in alive):
            self._read()
            self.read_meanwhile += 1
        self._check_that_kills_killed(alive)
        self.rounds += 1
        self.killed += writers
        self.together += writers if writers > 1 else 0
        found = self._read()
        possible = {before}.union(*(writer.could_have_written() for writer in alive))
        if found not in possible:
            self.failures.append(f"round {self.rounds}: model {found} is there, and not one of {sorted(possible)}")
        self.new_models += found != before
        self._write_again()

    def _start(self, k: int, from_outside: bool) -> _Writer:
        first = self.number + 1 + k * 1_000_000
        reading, writing = os.pipe()
        count_in = self.rng.choice(list(self.steps))
        fatal = 0 if from_outside else self.rng.randint(1, SAVES * self.steps[count_in])
        process = os.fork()
        if process == 0:
            os.close(reading)
            _write_until_killed(self.folder, first, writing, count_in, fatal)
        os.close(writing)
        return _Writer(process, reading, first)

    def _check_that_kills_killed(self, writers: list[_Writer]) -> None:
        for writer in writers:
            if writer.status != signal.SIGKILL:
                self.failures.append(f"round {self.rounds + 1}: a writer failed before it was killed")

    def _read(self) -> int:
        try:
            return number_of(load(self.folder))
        except Exception as error:
            self.failures.append(f"round {self.rounds + 1}: {type(error).__name__}: {error}")
            return 0

    def _write_again(self) -> None:
        """The next writer tidies up."""
        self.number += 10_000_000
        save(numbered(self.number), self.folder)
        left = sorted(path.name for path in self.folder.iterdir())
        if len(left) != 2 or self._read() != self.number:
            self.failures.append(f"round {self.rounds}: after a save the folder has {left}")

    def findings(self) -> Findings:
        figures = {
            "writers killed": self.killed,
            "of them two or more at once": self.together,
            "times that a new model was there afterwards": self.new_models,
            "models read while they were written": self.read_meanwhile,
            "models lost, mixed or unreadable": len(self.failures),
        }
        return Findings(figures, self.failures)


def _write_until_killed(folder: Path, first: int, progress: int, count_in: Countdown, fatal: int) -> NoReturn:
    """Save the models from `first` on, and die at a step."""
    left = fatal

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        count_in(step)
        for number in count(first):
            save(numbered(number), folder)
            os.write(progress, struct.pack("<q", number))
    except BaseException:
        traceback.print_exc()
    os._exit(1)  # whatever happens, this process must not go on as if it were its parent


def _at_lines(step: Callable[[], None]) -> None:
    """Every line of Python is a step."""

    def trace(frame: Any, event: str, value: Any) -> Any:
        step()
        return trace

    sys.settrace(trace)


def _at_changes(step: Callable[[], None]) -> None:
    """Every file that is opened, moved or removed is a step."""
    sys.addaudithook(lambda event, values: step() if event in CHANGES else None)


def _steps_of_a_save(count_in: Countdown, folder: Path) -> int:
    """How many steps a save has, counted in a process of its own, since a hook stays."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        steps = 0

        def step() -> None:
            nonlocal steps
            steps += 1

        count_in(step)
        save(numbered(1), folder)
        os.write(writing, struct.pack("<q", steps))
        os._exit(0)
    (found,) = struct.unpack("<q", os.read(reading, 8))
    os.wait()
    os.close(reading)
    os.close(writing)
    return int(found)


SOAK = Soak(
    "a writer that is killed leaves the old model or the new one, whole, whoever else writes",
    {"kills": 300, "writers": 3, "seed": 1},
    run,
)
