"""Python runs this before a program if its directory is on PYTHONPATH: wherever the program is then,
SIGUSR1 raises an exception in it, SIGUSR2 ends it with code 0, SIGIO lets it loop for ever, and
SIGWINCH and SIGURG let it fail and take long to end, with a traceback and without one."""
import os
import signal
import time
import traceback

if os.environ.get("TEST_WITHOUT_RANKS"):
    os.environ.pop("LOCKSTEP_RANK_FILES", None)
TEARDOWN_SECONDS = 5


def fail(*_):
    raise RuntimeError("a test made this process fail")


def leave(*_):
    os._exit(0)


def loop(*_):
    while True:
        pass


def fail_slowly(*_):
    try:
        fail()
    except RuntimeError:
        traceback.print_exc()
    fail_silently()


def fail_silently(*_):
    time.sleep(TEARDOWN_SECONDS)
    os._exit(1)


signal.signal(signal.SIGUSR1, fail)
signal.signal(signal.SIGUSR2, leave)
signal.signal(signal.SIGIO, loop)
signal.signal(signal.SIGWINCH, fail_slowly)
signal.signal(signal.SIGURG, fail_silently)
