"""Looks into a worker that hangs: `lockstep/hang-command: python -m lockstep.hang` prints the stacks of its
processes that have imported `lockstep`, and asks PyTorch for a dump of its NCCL flight recorder.
"""

import glob
import os
import re
import socket
import stat
import sys
import time
from contextlib import suppress
from typing import Dict, List, Optional

from . import _recorder, _stacks, _worker

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
    worker = _worker.number(os.environ.get("LOCKSTEP_WORKER_PID"))
    progress = os.environ.get("LOCKSTEP_PROGRESS_FILE")
    if worker is None or not progress:
        print("lockstep.hang: this is for lockstep/hang-command, which sets LOCKSTEP_WORKER_PID", file=sys.stderr)
        return 2
    started = time.monotonic()
    directory = _dump_directory()
    asked = _ask_recorders(progress, directory)
    processes = _registered(progress, worker)
    written = _ask_stacks(processes, started + _STACKS_SECONDS)
    stacks = {pid: _read(processes[pid], _MAX_FILE_BYTES).decode(errors="replace") for pid in written}
    where = next(filter(None, (_where(stacks[pid]) for pid in processes if written.get(pid))), "")
    if where:
        _say(f"where={where}")
    if not processes:
        _say(f"no process of worker {worker} has imported lockstep, or their files cannot be read: no stacks")
    lines = [
        f"process {pid}:\n{stacks[pid]}" if pid in stacks else f"process {pid}: {_why_silent(pid, path)}"
        for pid, path in processes.items()
    ]
    _say("\n".join(lines).encode()[:_MAX_OUTPUT_BYTES].decode(errors="ignore"))
    if directory is not None:
        for pid, is_complete in written.items():
            _keep(processes[pid], directory, f"{pid}{_stacks.SUFFIX}", is_complete)
        # Dumps are pickles, and loading one runs what it says: they are copied.
        dumped = _changed(asked, started + _LIMIT_SECONDS)
        for path in asked:
            if path in dumped:
                _keep(path, directory, f"nccl-{re.findall('[0-9]*', path)[-2]}", dumped[path])
            else:
                _say(f"the NCCL flight recorder has not written {path} in time")
    return 0


def _say(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError:
        # Nobody reads it, or the disk is full. The files are still to be kept.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _registered(progress: str, worker: int) -> Dict[int, str]:
    """The processes of this start of the worker that write stacks, and their files."""
    mark = f"LOCKSTEP_WORKER={os.environ.get('LOCKSTEP_WORKER', '')}".encode()
    ranks: Dict[int, List[bytes]] = {}
    for path in glob.glob(f"{glob.escape(progress)}.*{_stacks.SUFFIX}"):
        pid = _worker.number(path[len(progress) + 1 : -len(_stacks.SUFFIX)])
        environment = _read(f"/proc/{pid}/environ", _MAX_FILE_BYTES).split(b"\0")
        if pid is not None and any(environment) and (pid == worker or mark in environment):
            ranks[pid] = [entry for entry in environment if entry.startswith(b"LOCAL_RANK=")]
    # A launcher has given the others a rank. Its own stacks say only that it waits.
    is_launcher = any(rank and rank != ranks.get(worker) for rank in ranks.values())
    # For a rank below a launcher the command shows this one: it also runs for the others that matter.
    order = [worker] if ranks.get(worker) else sorted(ranks, key=lambda pid: ((pid == worker) == is_launcher, pid))
    return {pid: f"{progress}.{pid}{_stacks.SUFFIX}" for pid in order[:_MAX_PROCESSES]}


def _ask_stacks(processes: Dict[int, str], deadline: float) -> Dict[int, bool]:
    """Sends all signals before it waits for the first answer. Returns whose stacks there are, and
    whether these are complete."""
    asked: Dict[str, object] = {}
    for pid, path in processes.items():
        # Without its handler, the signal would end the process.
        if _why_silent(pid, path) != _NO_ANSWER:
            continue
        with suppress(OSError):  # It has ended, or its file is gone.
            os.close(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK))
            asked[path] = _worker.state(path)
            os.kill(pid, _stacks.SIGNAL)
    written = _changed(asked, deadline)
    return {pid: written[path] for pid, path in processes.items() if path in written}


def _why_silent(pid: int, path: str) -> str:
    status = _read(f"/proc/{pid}/status", _MAX_FILE_BYTES).decode(errors="replace")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if not fields:
        return "it has ended"
    state = fields.get("State", "").strip()
    if state[:1] in ("T", "t"):
        return f"it is stopped, and does not answer: {state}"
    if state[:1] == "D":
        return f"it waits in the kernel, and does not answer: {state}"
    caught = int(fields.get("SigCgt", "0").strip(), 16)
    if not caught >> (_stacks.SIGNAL - 1) & 1:
        return "it has no handler for the signal"
    # Else the handler, which knows only a number, would write into another file.
    return _NO_ANSWER if _has_open(pid, path) else "it has closed the file for its stacks"


def _has_open(pid: int, path: str) -> bool:
    wanted = os.path.realpath(path)
    for link in glob.glob(f"/proc/{pid}/fd/*"):
        # To look at the files themselves could hang, as the worker may do.
        with suppress(OSError):
            if os.readlink(link) == wanted:
                return True
    return False


def _where(text: str) -> str:
    """The functions of the main thread, which comes last, the innermost first."""
    # After the first 100 threads, Python writes only this.
    if text.endswith("\n...\n"):
        return ""
    block = re.split(r"^(?:Current thread|Thread) .*$", text, flags=re.MULTILINE)[-1]
    names = re.findall(r'^ +File ".*", line \S+ in (.+)$', block, flags=re.MULTILINE)
    return " ".join(names).encode()[:_MAX_WHERE_BYTES].decode(errors="ignore")


def _ask_recorders(progress: str, directory: Optional[str]) -> Dict[str, object]:
    """The files in which dumps will appear, with what they were like before."""
    pipes, dumps = _recorder.prefixes(progress)
    asked: Dict[str, object] = {}
    for path in sorted(glob.glob(f"{glob.escape(pipes)}*.pipe"))[:_MAX_PROCESSES]:
        rank = path[len(pipes) : -len(".pipe")]
        if _worker.number(rank) is None or os.environ.get("RANK", rank) != rank:
            continue
        if directory is None:
            _say("PyTorch has a dump of its NCCL flight recorder for LOCKSTEP_DUMP_DIRECTORY")
            break
        before = _worker.state(dumps + rank)
        try:
            # Fails where nobody reads: the process group is not there yet, or gone.
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            with open(descriptor, "wb", buffering=0) as pipe:
                if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                    pipe.write(b"1")
                    asked[dumps + rank] = before
        except OSError as error:
            _say(f"the NCCL flight recorder of rank {rank} cannot be asked: {error.strerror}")
    return asked


def _changed(before: Dict[str, object], deadline: float) -> Dict[str, bool]:
    """Waits until all files have changed, and stay as they are. Returns those that have changed, and
    whether they are complete."""
    seen, since = dict(before), dict.fromkeys(before, 0.0)
    while True:
        now = time.monotonic()
        for path in before:
            state = _worker.state(path)
            if state != seen[path]:
                seen[path], since[path] = state, now
        changed = {p: now - since[p] >= _QUIET_SECONDS for p in before if seen[p] != before[p]}
        if (len(changed) == len(before) and all(changed.values())) or now >= deadline:
            return changed
        time.sleep(_POLL_SECONDS)


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
        _say(f"nothing is kept in LOCKSTEP_DUMP_DIRECTORY: {error}")
    return None


def _read(path: str, limit: int) -> bytes:
    """Only of a regular file: the worker may put a link or a FIFO in its place."""
    with suppress(OSError), open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    return b""


def _keep(path: str, directory: str, end: str, is_complete: bool) -> None:
    epoch = _worker.number(os.environ.get("LOCKSTEP_EPOCH"))
    name = f"{socket.gethostname()}{'' if epoch is None else f'-epoch-{epoch}'}-{end}"
    content = _read(path, _MAX_FILE_BYTES + 1)
    try:
        with open(os.path.join(directory, name), "wb") as kept:
            kept.write(content[:_MAX_FILE_BYTES])
        is_whole = is_complete and 0 < len(content) <= _MAX_FILE_BYTES
        _say(f"kept {os.path.join(directory, name)}{'' if is_whole else ', which is incomplete'}")
    except OSError as error:
        _say(f"{name} could not be kept: {error}")


if __name__ == "__main__":
    sys.exit(main())
