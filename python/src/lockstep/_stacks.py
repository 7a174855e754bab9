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
    # While one imports the main module, it does not know its parent yet.
    processes = sys.modules.get("multiprocessing.process")
    if processes and (processes.parent_process() or hasattr(processes.current_process(), "_inheriting")):
        return
    try:
        faulthandler.register(SIGNAL, file=_opened(f"{path}.{os.getpid()}{SUFFIX}"), all_threads=True)
        rank_file = _worker.rank_file()
        if rank_file is not None and _is_default():
            # Launchers end ranks by it. A handler of the program stays as it is, also in a child.
            file = _opened(f"{rank_file}.terminated", os.O_TRUNC)
            faulthandler.register(signal.SIGTERM, file=file, all_threads=False, chain=True)
            os.register_at_fork(after_in_child=lambda: _is_default() and faulthandler.unregister(signal.SIGTERM))
    except (OSError, ValueError, RuntimeError) as error:
        _worker.warn_once(f"the hang command will not see stacks of this process: {error}")


def _is_default() -> bool:
    return signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def _opened(path: str, how: int = 0) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | how, 0o644)
