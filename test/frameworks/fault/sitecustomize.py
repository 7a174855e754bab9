"""Python runs this before a program if its directory is on PYTHONPATH: SIGUSR1 then raises an
exception wherever the program is."""
import signal


def fail(*_):
    raise RuntimeError("a test made this process fail")


signal.signal(signal.SIGUSR1, fail)
