"""For programs that use `torch.distributed`. The import prepares PyTorch's NCCL flight recorder, by
environment variables that are not set yet. So import it before the process group is made."""

from typing import Any

from . import _recorder, _worker
from ._waits import wait_for_master

if _worker.PROGRESS_FILE is not None:
    _recorder.enable(_worker.PROGRESS_FILE)


def init_process_group(*arguments: Any, **options: Any) -> None:
    """`torch.distributed.init_process_group`, once rank 0 listens."""
    import torch.distributed

    wait_for_master()
    torch.distributed.init_process_group(*arguments, **options)
