"""What a training program tells Lockstep, and waits for. Outside of Lockstep nothing is reported, and
nothing waits. The README and `docs/python.md` of Lockstep have an example.

The import itself makes two things happen in a worker. An exception that ends the program is written
to the file of `TORCHELASTIC_ERROR_FILE`, unless PyTorch's `@record` has done so. And a signal makes
the process write its Python stacks, for `python -m lockstep.hang`.
"""

from . import _errors, _stacks
from ._progress import checkpoint, phase, restored, step, steps
from ._waits import wait_for_master, wait_for_start

__all__ = ["checkpoint", "phase", "restored", "step", "steps", "wait_for_master", "wait_for_start"]

_errors.install()
_stacks.install()
