"""How far the program is, as lines of its progress file."""

import math
import operator
import os
import re
import threading
from typing import Iterator, List, Optional, SupportsFloat, SupportsIndex, Tuple, Union

from . import _worker

MAX_STEP = 2**53 - 1
_PHASE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,30}[A-Za-z0-9])?")
_AMOUNT = re.compile(r"([0-9.]+)([a-zµμ]+)")
_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}
#: As the agent counts: nanoseconds in 64 bits.
_LONGEST_MS = 2**63 / 1e6
_DURATION = re.compile(r"(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+")

#: A duration such as "10m" or "1h30m", seconds, "none" for no limit at all, or `None` for the usual one.
Timeout = Union[str, float, int, None]


class Progress:
    """What was reported. The agent reads the newest line only, so each line says all of it."""

    def __init__(self) -> None:
        # A signal handler may report while its thread does.
        self._lock = threading.RLock()
        self._step: Optional[int] = None
        self._checkpoint: Optional[int] = None
        self._phases: List[Tuple[str, Optional[str]]] = []
        #: The step that the body of a loop works on.
        self.working_on: Optional[int] = None
        if _worker.PROGRESS_FILE is not None:
            os.register_at_fork(after_in_child=lambda: setattr(self, "_lock", threading.RLock()))

    def done(self, step: int) -> None:
        with self._lock:
            self._step = step
            self._write()

    def saved(self, step: int) -> None:
        with self._lock:
            self._checkpoint = step
            # What was saved is done, although the body of the loop is not.
            if step == self.working_on:
                self._step = step
            self._write()

    def loaded(self, step: int) -> None:
        # A line now would start the clock of the progress time-out, before the program has compiled.
        with self._lock:
            self._checkpoint = step

    def alive(self) -> None:
        with self._lock:
            self._write()

    def begin(self, entry: Tuple[str, Optional[str]]) -> None:
        with self._lock:
            self._phases.append(entry)
            self._write()

    def end(self, entry: Tuple[str, Optional[str]], is_failed: bool) -> None:
        with self._lock:
            # Another thread may have begun a phase since.
            index = next((i for i, phase in enumerate(self._phases) if phase is entry), None)
            if index is None:
                return
            del self._phases[index]
            # Before the first step there is nothing to say: the last line counts while the program compiles.
            if not is_failed and (self._phases or self._step is not None):
                self._write()

    def _write(self) -> None:
        line = ""
        # A signal handler may report meanwhile, and the newest line has to say that too.
        while line != self._line():
            line = self._line()
            write_line(line)

    def _line(self) -> str:
        words = [] if self._step is None else [str(self._step)]
        if self._checkpoint is not None:
            words.append(f"checkpoint={self._checkpoint}")
        if self._phases:
            name, timeout = self._phases[-1]
            words.append(f"phase={name}")
            if timeout is not None:
                words.append(f"timeout={timeout}")
        return " ".join(words)


def write_line(line: str) -> None:
    """To the progress file. Below a launcher each rank has one, or `LOCAL_RANK` 0 reports for its Pod."""
    path, own = _worker.PROGRESS_FILE, _worker.rank_file()
    if own is not None:
        rank = _worker.number(os.environ.get("RANK"))
        path, line = own, f"{line} pid={os.getpid()}{'' if rank is None else f' rank={rank}'}"
    elif path is None or _worker.number(_worker.local_rank() or "0") != 0:
        return
    try:
        _worker.write(path, f"{line}\n", os.O_APPEND)
    except OSError as error:
        _worker.warn_once(f"progress cannot be reported: {error}")


PROGRESS = Progress()


def step(number: SupportsIndex) -> None:
    """Step `number` is done."""
    PROGRESS.done(_step_number(number))


def steps(first: SupportsIndex, last: SupportsIndex) -> Iterator[int]:
    """The steps from `first` to `last`, both included. Each is reported when the next one is asked for,
    and the last one at the end. A step whose body is left by `break` or an exception is not."""
    begin, end = _step_number(first), operator.index(last)
    if end > MAX_STEP:
        raise ValueError(f"step {end} is above {MAX_STEP}")
    return _reported(begin, end)


def _reported(first: int, last: int) -> Iterator[int]:
    try:
        for number in range(first, last + 1):
            PROGRESS.working_on = number
            yield number
            PROGRESS.done(number)
    finally:
        PROGRESS.working_on = None


def checkpoint(number: SupportsIndex) -> None:
    """The checkpoint of step `number` is complete: a restart would load it."""
    PROGRESS.saved(_step_number(number))


def restored(number: SupportsIndex) -> None:
    """The program has loaded the checkpoint of step `number`. The next report says so."""
    PROGRESS.loaded(_step_number(number))


class phase:
    """Something else than steps, which may be silent for `timeout`. Phases may lie in each other."""

    def __init__(self, name: str, timeout: Timeout = None) -> None:
        if not (isinstance(name, str) and _PHASE.fullmatch(name)):
            allowed = "at most 32 letters, digits, '-', '_' and '.', a letter or a digit at both ends"
            raise ValueError(f"phase {name!r}: expected {allowed}")
        self._entry = (name, _timeout_text(timeout))

    def __enter__(self) -> None:
        PROGRESS.begin(self._entry)

    def __exit__(self, kind: object = None, *_: object) -> None:
        # An exception that ends the program leaves the phase in which it happened.
        PROGRESS.end(self._entry, is_failed=kind is not None)


def _step_number(number: SupportsIndex) -> int:
    value = operator.index(number)
    if not 0 <= value <= MAX_STEP:
        raise ValueError(f"step {value}: expected a number from 0 to {MAX_STEP}")
    return value


def _timeout_text(timeout: Timeout) -> Optional[str]:
    if timeout is None:
        return None
    text = timeout if isinstance(timeout, str) else f"{seconds(timeout):.3f}s"
    amounts = _AMOUNT.findall(text) if _DURATION.fullmatch(text) else []
    ms = sum(float(amount) * _MS[unit] for amount, unit in amounts)
    if text != "none" and not 0 < ms <= _LONGEST_MS:
        allowed = "seconds, a duration such as '10m' or '1h30m', at most 2^63 ns (2562047h), or 'none'"
        raise ValueError(f"timeout {timeout!r}: expected {allowed}")
    return text


def seconds(value: object) -> float:
    """NaN for what is no number of seconds."""
    try:
        return float(value) if isinstance(value, SupportsFloat) else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan
