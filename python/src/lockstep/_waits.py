"""Waits before the first step: of a standby for its turn, and of each rank for rank 0."""

import operator
import os
import socket
import sys
import time
from typing import Optional, SupportsIndex

from . import _progress, _worker

_POLL_SECONDS = 0.01
#: DNS may learn the name of a Pod later than the Pod starts.
_NAME_POLL_SECONDS = 0.2
_CONNECT_SECONDS = 1.0
_LAST_PORT, _LAST_RANK = 65_535, 2**31 - 1

_has_waited = False


def wait_for_start() -> Optional[int]:
    """A warm standby waits here until it becomes the worker. Others go on at once, also below a launcher,
    which has joined its peers already. Returns the number of the epoch, and `None` where there is none.
    Before it: imports, data, the model in the memory of the host. After it: all else."""
    global _has_waited
    start = os.environ.get("LOCKSTEP_START_FILE")
    if _worker.PROGRESS_FILE is None or not start or _worker.local_rank() or _has_waited:
        return _worker.number(os.environ.get("LOCKSTEP_EPOCH"))
    _has_waited = True
    _progress.write_line("phase=standby")
    while not os.path.exists(start):
        time.sleep(_POLL_SECONDS)
    try:
        with open(start, encoding="utf-8") as file:
            words = file.read().split()
    except (OSError, UnicodeError) as error:
        sys.exit(f"lockstep: the start file {start} cannot be read: {error}")
    if len(words) == 2 and words[0] == "epoch" and _worker.number(words[1]) is not None:
        os.environ["LOCKSTEP_EPOCH"] = words[1]
    os.environ.pop("LOCKSTEP_STANDBY", None)
    return _worker.number(os.environ.get("LOCKSTEP_EPOCH"))


def wait_for_master(
    address: Optional[str] = None, port: Optional[int] = None, *, rank: Optional[int] = None, timeout: float = 600.0
) -> Optional[str]:
    """Waits until rank 0 accepts connections: frameworks lose a second, or give up, if they come too
    early. What is not given comes from `MASTER_ADDR`, `MASTER_PORT` and `RANK`. Returns the address of
    rank 0 in digits. `None`: it does not wait outside of Lockstep, without these variables, and where a
    launcher serves the store. On rank 0 it waits for the name only. Raises `TimeoutError`."""
    _check_host("address", address)
    number, own = _whole("port", port, 1, _LAST_PORT), _whole("rank", rank, 0, _LAST_RANK)
    seconds = _progress.seconds(timeout)
    if not seconds >= 0:
        raise ValueError(f"timeout {timeout!r}: expected seconds, 0 or more")
    host = address or os.environ.get("MASTER_ADDR")
    number = _worker.number(os.environ.get("MASTER_PORT")) if number is None else number
    own = _worker.number(os.environ.get("RANK")) if own is None else own
    if _worker.PROGRESS_FILE is None or not host or number is None or own is None:
        return None
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        return None
    _check_host("MASTER_ADDR", host)
    _whole("MASTER_PORT", number, 1, _LAST_PORT)
    deadline = time.monotonic() + seconds
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
                what = f"rank 0 does not accept connections at {host}:{number}"
                raise TimeoutError(f"{what} after {seconds:g} s: {error}") from error
        time.sleep(pause)


def _whole(name: str, value: Optional[SupportsIndex], first: int, last: int) -> Optional[int]:
    if value is None:
        return None
    number = operator.index(value) if isinstance(value, SupportsIndex) else first - 1
    if not first <= number <= last:
        raise ValueError(f"{name} {value!r}: expected a number from {first} to {last}")
    return number


def _check_host(name: str, value: Optional[str]) -> None:
    try:
        is_host = value is None or b"\0" not in value.encode("idna")
    except (AttributeError, UnicodeError):
        is_host = False
    if not is_host:
        raise ValueError(f"{name} {value!r}: expected the name of a host, or its address in digits")


def _resolve(host: str, port: int) -> str:
    # On the embedded cluster, a node without namespaces has the names of Pods in a file.
    hosts = os.environ.get("LOCKSTEP_HOSTS")
    if hosts:
        with open(hosts, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split("#")[0].split()
                if host in words[1:]:
                    return words[0]
    return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
