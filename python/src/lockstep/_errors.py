"""The exception that ends the program, where Lockstep and torchrun look for it."""

import json
import os
import sys
import time
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, Callable, Optional, Type

from . import _worker

#: The agent reads 64 KiB of the file, in which JSON needs up to six bytes for a character.
_MAX_MESSAGE_CHARACTERS = 1_000
_MAX_STACK_CHARACTERS = 8_000

Hook = Callable[[Type[BaseException], BaseException, Optional[TracebackType]], Any]

_ends_at_once = False


def install() -> None:
    """Puts itself in front of the hook that prints the exception."""
    if _worker.PROGRESS_FILE is None:
        return
    printing: Hook = sys.excepthook
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    before = _state(path)

    def hook(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        try:
            # PyTorch's `@record` has written more, and the exception comes here after it.
            if path and _state(path) == before and not isinstance(error, KeyboardInterrupt):
                _write(error, path)
        except Exception as problem:
            _worker.warn_once(f"the exception could not be written: {problem}")
        printing(kind, error, trace)
        if _ends_at_once:
            _end()

    sys.excepthook = hook


def end_at_once() -> None:
    """Lets an exception end the process without the handlers of an ordinary exit."""
    global _ends_at_once
    _ends_at_once = True


def _write(error: BaseException, path: str) -> None:
    monotonic_ms = round(time.monotonic() * 1000)
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    message = {
        "message": f"{type(error).__name__}: {error}"[:_MAX_MESSAGE_CHARACTERS],
        "extraInfo": {"py_callstack": text[-_MAX_STACK_CHARACTERS:], "timestamp": str(int(time.time()))},
    }
    content = {"message": message, "monotonicMs": monotonic_ms, "pid": os.getpid()}
    _worker.write(path, json.dumps(content), os.O_TRUNC)


def _state(path: Optional[str]) -> object:
    try:
        found = os.stat(path or "")
        return (found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError:
        return None


def _end() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(1)
