"""What a training program tells Lockstep, and waits for. Outside of Lockstep every call does nothing.

    import lockstep

    lockstep.wait_for_start()                    # a warm standby waits here
    lockstep.wait_for_master()                   # until rank 0 listens
    for step in lockstep.steps(first, last):     # reports a step when the next one is asked for
        train(step)
        if step % 100 == 0:
            with lockstep.phase("save", timeout="10m"):
                save(step)
            lockstep.checkpoint(step)

The import itself makes two things happen in a worker. An exception that ends the program is written
to the file of `TORCHELASTIC_ERROR_FILE`, unless PyTorch's `@record` has done so. And a signal makes
the process write its Python stacks, for `python -m lockstep.hang`.

Below a launcher such as torchrun, the processes of a Pod share its progress file, and the one with
`LOCAL_RANK` 0 reports for all.
"""

from . import _errors, _stacks
from ._progress import checkpoint, phase, restored, step, steps
from ._waits import wait_for_master, wait_for_start

__all__ = ["checkpoint", "phase", "restored", "step", "steps", "wait_for_master", "wait_for_start"]

_errors.install()
_stacks.install()
