"""Waits before the first step: of a standby for its turn, and of each rank for rank 0."""

import os
import socket
import time
from typing import Optional

from . import _progress, _worker

_POLL_SECONDS = 0.01
#: DNS may learn the name of a Pod later than the Pod starts.
_NAME_POLL_SECONDS = 0.2
_CONNECT_SECONDS = 1.0

_has_waited = False


def wait_for_start() -> Optional[int]:
    """A warm standby waits here until it becomes the worker. Every other process goes on at once, and
    so does one below a launcher: that has joined its peers already, which is too late to wait. Returns
    the number of the epoch, and `None` where there is none.

    Before it: imports, data, the model in the memory of the host. After it: accelerators, ports,
    checkpoints, other processes."""
    global _has_waited
    start = os.environ.get("LOCKSTEP_START_FILE")
    is_launched = _worker.local_rank() is not None
    if _worker.PROGRESS_FILE is None or not start or is_launched or _has_waited:
        return _number(None, "LOCKSTEP_EPOCH")
    _has_waited = True
    _progress.write_line("phase=standby")
    while not os.path.exists(start):
        time.sleep(_POLL_SECONDS)
    with open(start, encoding="utf-8") as file:
        words = file.read().split()
    # From here on it is a worker as any other, and so are the processes that it starts.
    if len(words) == 2 and words[0] == "epoch":
        os.environ["LOCKSTEP_EPOCH"] = words[1]
    os.environ.pop("LOCKSTEP_STANDBY", None)
    return _number(None, "LOCKSTEP_EPOCH")


def wait_for_master(
    address: Optional[str] = None,
    port: Optional[int] = None,
    *,
    rank: Optional[int] = None,
    timeout: float = 600.0,
) -> Optional[str]:
    """Waits until rank 0 accepts connections: frameworks lose a second, or give up, if they come too
    early. What is not given comes from `MASTER_ADDR`, `MASTER_PORT` and `RANK`. Returns the address of
    rank 0 in digits. `None`: it does not wait outside of Lockstep, without these variables, and where a
    launcher serves the store. On rank 0 it waits for the name only. Raises `TimeoutError`."""
    host = address or os.environ.get("MASTER_ADDR")
    number = _number(port, "MASTER_PORT")
    own = _number(rank, "RANK")
    if _worker.PROGRESS_FILE is None or not host or number is None or own is None:
        return None
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        return None
    deadline = time.monotonic() + timeout
    while True:
        pause = _NAME_POLL_SECONDS
        try:
            found = _resolve(host, number)
            pause = _POLL_SECONDS
            if own != 0:
                socket.create_connection((found, number), timeout=_CONNECT_SECONDS).close()
            return found
        except OSError as error:
            if time.monotonic() >= deadline:
                raise TimeoutError(
                    f"rank 0 does not accept connections at {host}:{number} after {timeout:g} s: {error}"
                ) from error
        time.sleep(pause)


def _number(given: Optional[int], variable: str) -> Optional[int]:
    text = os.environ.get(variable, "")
    return given if given is not None else int(text) if text.isdigit() else None


def _resolve(host: str, port: int) -> str:
    # On the embedded cluster, a node without namespaces has the names of Pods in a file.
    hosts = os.environ.get("LOCKSTEP_HOSTS")
    if hosts:
        with open(hosts, encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if host in words[1:]:
                    return words[0]
    return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
