"""Commands as they can be typed."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def typed(words: Sequence[str]) -> str:
    """A command of pnsight as a shell takes it: by the program's place where the shell does not find its name.

    Parameters
    ----------
    words
        The command and its arguments, without the name of the program.

    Returns
    -------
    A line, quoted where that is needed.
    """
    beside = Path(sys.executable).with_name("pnsight")
    found = shutil.which("pnsight") is not None or not beside.exists()
    return shlex.join(["pnsight" if found else os.path.relpath(beside), *words])
