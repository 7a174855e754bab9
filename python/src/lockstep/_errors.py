"""The exception that ends the program, where Lockstep and torchrun look for it."""

import json
import os
import sys
import time
import traceback
from contextlib import suppress
from typing import Any, Optional, Type

from . import _worker

#: The agent reads 64 KiB of the file, in which JSON needs up to six bytes for a character.
_MAX_MESSAGE_CHARACTERS = 1_000
_MAX_STACK_CHARACTERS = 8_000
#: Without the handlers of an ordinary exit.
ends_at_once = False


def install() -> None:
    """Puts itself in front of the hook that prints the exception."""
    if _worker.PROGRESS_FILE is None:
        return
    printing = sys.excepthook
    path = os.environ.get("TORCHELASTIC_ERROR_FILE", "")
    before = _worker.state(path)
    own, parent = os.getpid(), os.getppid()

    def hook(kind: Type[BaseException], error: BaseException, trace: Any) -> None:
        try:
            # A child that was forked is not the program.
            if os.getpid() == own and not isinstance(error, KeyboardInterrupt):
                # The agent compares the times of ranks: peers fail soon after the first one.
                now, rank_file = time.monotonic_ns(), _worker.rank_file()
                if rank_file is not None:
                    _write(error, f"{rank_file}.error", now)
                # PyTorch's `@record` has written more, and the exception comes here after it.
                writer = _writer(path)
                if path and writer != parent and (_worker.state(path) == before or writer not in (None, own)):
                    _write(error, path, now)
        except Exception as problem:
            _worker.warn_once(f"the exception could not be written: {problem}")
        printing(kind, error, trace)
        if ends_at_once:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            os._exit(1)

    sys.excepthook = hook


def _write(error: BaseException, path: str, now: int) -> None:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    # Unlike `str`, it never fails.
    said = "".join(traceback.format_exception_only(type(error), error)).strip()
    message = {
        "message": said[:_MAX_MESSAGE_CHARACTERS],
        "extraInfo": {"py_callstack": text[-_MAX_STACK_CHARACTERS:], "timestamp": str(int(time.time()))},
    }
    written = {"message": message, "type": type(error).__name__, "pid": os.getpid(), "monotonicNs": str(now)}
    _worker.write(path, json.dumps(written), os.O_TRUNC)


def _writer(path: str) -> Optional[int]:
    with suppress(OSError, ValueError, LookupError, TypeError), open(path, "rb") as file:
        return int(json.load(file)["pid"])
    return None
