"""Workers end with the process that started them, also where that is killed and can tell them nothing."""

from __future__ import annotations

import os
import threading

INTERVAL = 0.5
"""Seconds between looks at who the parent is; one that has ended is replaced by another."""


def end_with_parent(parent: int) -> None:
    """Have this process end when its parent has, whatever it is doing.

    Parameters
    ----------
    parent
        Number of the process that started this one.
    """
    threading.Thread(target=_end_when_gone, args=(parent,), daemon=True).start()


def _end_when_gone(parent: int) -> None:
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(INTERVAL)
    os._exit(1)
