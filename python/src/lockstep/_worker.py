"""What the agent has told this process by its environment."""

import os
import sys
from contextlib import suppress
from typing import Optional, Set

#: Where this Pod reports. The hang command has a worker's environment and is none.
PROGRESS_FILE: Optional[str] = (
    None if "LOCKSTEP_WORKER_PID" in os.environ else os.environ.get("LOCKSTEP_PROGRESS_FILE") or None
)

#: Whether the agent reads a file of each rank below a launcher.
RANK_FILES: bool = os.environ.get("LOCKSTEP_RANK_FILES") == "1"

_MAX_DIGITS = 18
_told: Set[str] = set()


def number(text: Optional[str]) -> Optional[int]:
    """`str.isdigit` alone takes digits of other alphabets, too."""
    digits = (text or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS else None


def local_rank() -> Optional[str]:
    """Of a process below a launcher. Where the agent has started the ranks, each is a worker."""
    return None if os.environ.get("LOCKSTEP_PROCESSES") else os.environ.get("LOCAL_RANK") or None


def rank_file() -> Optional[str]:
    own = number(local_rank()) if RANK_FILES else None
    return None if PROGRESS_FILE is None or own is None else f"{PROGRESS_FILE}.{own}"


def warn_once(problem: str) -> None:
    if problem not in _told:
        _told.add(problem)
        # The program may have closed its standard error.
        with suppress(Exception):
            print(f"lockstep: {problem}", file=sys.stderr, flush=True)


def write(path: str, text: str, how: int) -> None:
    """Opens the file each time: a program may close all descriptors, and then the number of one that was
    kept would be another file. Nothing waits for a reader if the path is a FIFO."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | how
    descriptor = os.open(path, flags, 0o644)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def state(path: str) -> object:
    """Differs once the file has changed. `None`: there is none."""
    with suppress(OSError):
        found = os.stat(path)
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    return None
