"""A signal that makes this process write its Python stacks, for `python -m lockstep.hang`."""

import faulthandler
import os
import signal
import sys

from . import _worker

#: A real-time signal: the others belong to programs and their libraries. 0 where there are none.
SIGNAL: int = getattr(signal, "SIGRTMIN", -10) + 10
SUFFIX = ".stacks"


def install() -> None:
    """`faulthandler` writes from the signal's handler itself, so it also shows a process whose main
    thread waits in a library, with or without the interpreter's lock."""
    path = _worker.PROGRESS_FILE
    if path is None or SIGNAL == 0 or signal.getsignal(SIGNAL) is not signal.SIG_DFL:
        return
    # Children by `multiprocessing`, such as those that load data, wait for the program most of the time.
    processes = sys.modules.get("multiprocessing.process")
    # While a child imports the main module, it does not know its parent yet.
    if processes and (processes.parent_process() or hasattr(processes.current_process(), "_inheriting")):
        return
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(f"{path}.{os.getpid()}{SUFFIX}", flags, 0o644)
        faulthandler.register(SIGNAL, file=descriptor, all_threads=True)
    except (OSError, ValueError, RuntimeError) as error:
        _worker.warn_once(f"the hang command will not see stacks of this process: {error}")
