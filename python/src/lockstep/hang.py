"""Looks into a worker that hangs: `lockstep/hang-command: python -m lockstep.hang`.

It prints the Python stacks of each process of the worker that has imported `lockstep`, and asks
PyTorch for a dump of its NCCL flight recorder. `LOCKSTEP_DUMP_DIRECTORY` gets whole stacks and dumps.
"""

import glob
import os
import re
import socket
import stat
import sys
import time
from typing import Dict, List, Optional

from . import _recorder, _stacks

#: The agent gives the command 10 s, and passes on 64 KiB.
_STACKS_SECONDS = 4.0
_LIMIT_SECONDS = 8.0
_MAX_OUTPUT_BYTES = 60 * 1024
_MAX_WHERE_BYTES = 128
_MAX_PROCESSES = 8
_MAX_FILE_BYTES = 32 * 1024 * 1024
_POLL_SECONDS = 0.05
#: A file that has not grown for this time is complete.
_QUIET_SECONDS = 0.3
_NO_ANSWER = "it does not answer"


def main() -> int:
    worker = os.environ.get("LOCKSTEP_WORKER_PID", "")
    progress = os.environ.get("LOCKSTEP_PROGRESS_FILE")
    if not worker.isdigit() or not progress:
        why = "lockstep.hang: this is for lockstep/hang-command, which sets LOCKSTEP_WORKER_PID"
        print(why, file=sys.stderr)
        return 2
    started = time.monotonic()
    directory = _dump_directory()
    asked = _ask_recorders(progress, directory)
    processes = _registered(progress, int(worker))
    stacks = _stacks_of(processes, started + _STACKS_SECONDS)
    where = next(filter(None, map(_where, stacks.values())), "")
    if where:
        print(f"where={where}", flush=True)
    if not processes:
        print(f"no process of worker {worker} has imported lockstep: there are no stacks", flush=True)
    lines = [f"process {p}:\n{stacks[p]}" if p in stacks else f"process {p}: {_why_silent(p)}" for p in processes]
    print("\n".join(lines).encode()[:_MAX_OUTPUT_BYTES].decode(errors="ignore"), flush=True)
    if directory is not None:
        for pid in stacks:
            _keep(processes[pid], directory, f"{pid}{_stacks.SUFFIX}")
        # Dumps are pickles, and loading one runs what it says: they are copied.
        written = _changed(asked, started + _LIMIT_SECONDS)
        for path in asked:
            if path in written:
                _keep(path, directory, f"nccl-{re.findall('[0-9]*', path)[-2]}")
            else:
                print(f"the NCCL flight recorder has not written {path} in time", flush=True)
    return 0


def _registered(progress: str, worker: int) -> Dict[int, str]:
    """The processes of this start of the worker that write stacks, and their files."""
    found: Dict[int, str] = {}
    for path in glob.glob(f"{glob.escape(progress)}.*{_stacks.SUFFIX}"):
        number = path[len(progress) + 1 : -len(_stacks.SUFFIX)]
        if number.isdigit() and _is_of_worker(int(number), worker):
            found[int(number)] = path
    # One above others is a launcher, whose stacks say only that it waits.
    order = sorted(found, key=lambda pid: (pid == worker, pid))
    return {pid: found[pid] for pid in order[:_MAX_PROCESSES]}


def _is_of_worker(pid: int, worker: int) -> bool:
    mark = f"LOCKSTEP_WORKER={os.environ.get('LOCKSTEP_WORKER', '')}".encode()
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return pid == worker or mark in file.read().split(b"\0")
    except OSError:
        return False


def _stacks_of(processes: Dict[int, str], deadline: float) -> Dict[int, str]:
    """Sends all signals before it waits for the first answer."""
    asked: Dict[str, object] = {}
    for pid, path in processes.items():
        # Without its handler, the signal would end the process.
        if _why_silent(pid) != _NO_ANSWER:
            continue
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK))
            asked[path] = _state(path)
            os.kill(pid, _stacks.SIGNAL)
        except OSError:
            pass  # It has ended, or its file is gone.
    written = _changed(asked, deadline)
    return {
        pid: _read(path, _MAX_OUTPUT_BYTES).decode(errors="replace")
        for pid, path in processes.items()
        if path in written
    }


def _why_silent(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
    except OSError:
        return "it has ended"
    state = fields.get("State", "").strip()
    if state[:1] in ("T", "t"):
        return f"it is stopped, and does not answer: {state}"
    if state[:1] == "D":
        return f"it waits in the kernel, and does not answer: {state}"
    caught = int(fields.get("SigCgt", "0").strip(), 16)
    return _NO_ANSWER if caught >> (_stacks.SIGNAL - 1) & 1 else "it has no handler for the signal"


def _where(text: str) -> str:
    """The functions of the main thread, which comes last, the innermost first."""
    block = re.split(r"^(?:Current thread|Thread) .*$", text, flags=re.MULTILINE)[-1]
    names = re.findall(r'^ +File ".*", line \S+ in (.+)$', block, flags=re.MULTILINE)
    return " ".join(names).encode()[:_MAX_WHERE_BYTES].decode(errors="ignore")


def _ask_recorders(progress: str, directory: Optional[str]) -> Dict[str, object]:
    """The files in which dumps will appear, with what they were like before."""
    pipes, dumps = _recorder.prefixes(progress)
    asked: Dict[str, object] = {}
    for path in sorted(glob.glob(f"{glob.escape(pipes)}*.pipe"))[:_MAX_PROCESSES]:
        rank = path[len(pipes) : -len(".pipe")]
        if not rank.isdigit() or os.environ.get("RANK", rank) != rank:
            continue
        if directory is None:
            print("PyTorch has a dump of its NCCL flight recorder for LOCKSTEP_DUMP_DIRECTORY", flush=True)
            break
        before = _state(dumps + rank)
        try:
            # Fails where nobody reads: the process group is not there yet, or gone.
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            with open(descriptor, "wb", buffering=0) as pipe:
                if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                    pipe.write(b"1")
                    asked[dumps + rank] = before
        except OSError as error:
            print(f"the NCCL flight recorder of rank {rank} cannot be asked: {error.strerror}", flush=True)
    return asked


def _changed(before: Dict[str, object], deadline: float) -> List[str]:
    """Waits until all files have changed, and stay as they are. Returns those that have changed."""
    seen: List[object] = []
    since = time.monotonic()
    while True:
        now = [_state(path) for path in before]
        if now != seen:
            seen, since = now, time.monotonic()
        changed = [path for path, state in zip(before, now) if state != before[path]]
        is_complete = len(changed) == len(before) and time.monotonic() - since >= _QUIET_SECONDS
        if not before or is_complete or time.monotonic() >= deadline:
            return changed
        time.sleep(_POLL_SECONDS)


def _state(path: str) -> object:
    try:
        found = os.lstat(path)
        return (found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError:
        return None


def _dump_directory() -> Optional[str]:
    given = os.environ.get("LOCKSTEP_DUMP_DIRECTORY")
    if not given:
        return None
    # On the embedded cluster, volumes are below another directory.
    directory = os.environ.get("LOCKSTEP_ROOT", "") + given
    try:
        os.makedirs(directory, exist_ok=True)
        return directory
    except OSError as error:
        print(f"nothing is kept in LOCKSTEP_DUMP_DIRECTORY: {error}", flush=True)
        return None


def _read(path: str, limit: int) -> bytes:
    """Only of a regular file: the worker may put a link or a FIFO in its place."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def _keep(path: str, directory: str, end: str) -> None:
    epoch = os.environ.get("LOCKSTEP_EPOCH", "")
    name = f"{socket.gethostname()}{f'-epoch-{epoch}' if epoch.isdigit() else ''}-{end}"
    try:
        with open(os.path.join(directory, name), "wb") as kept:
            kept.write(_read(path, _MAX_FILE_BYTES))
        print(f"kept {os.path.join(directory, name)}", flush=True)
    except OSError as error:
        print(f"{name} could not be kept: {error}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
