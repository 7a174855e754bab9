"""What the agent has told this process by its environment."""

import os
import sys
from contextlib import suppress
from typing import Optional, Set

#: Where this Pod reports. The hang command has a worker's environment and is none.
PROGRESS_FILE: Optional[str] = (
    None if "LOCKSTEP_WORKER_PID" in os.environ else os.environ.get("LOCKSTEP_PROGRESS_FILE") or None
)

_told: Set[str] = set()


def local_rank() -> Optional[str]:
    """The number that a launcher has given this process among those of its Pod, if there is one."""
    return os.environ.get("LOCAL_RANK") or None


def warn_once(problem: str) -> None:
    """Training goes on whatever happens to reports, so problems with them are only told."""
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
