"""What a training program tells Lockstep, and waits for. Outside of Lockstep nothing is reported, and
nothing waits. In a worker, the import lets an exception that ends the program be written to the file of
`TORCHELASTIC_ERROR_FILE`, and a signal make the process write its stacks, for `python -m lockstep.hang`.
"""

from . import _errors, _stacks
from ._progress import checkpoint, phase, restored, step, steps
from ._waits import wait_for_master, wait_for_start

__all__ = ["checkpoint", "phase", "restored", "step", "steps", "wait_for_master", "wait_for_start"]

_errors.install()
_stacks.install()
