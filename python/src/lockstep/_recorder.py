"""PyTorch's NCCL flight recorder: a byte in the FIFO `<pipes><rank>.pipe` of the default process group makes
it write `<dumps><rank>`. Only the pipe was compared with PyTorch's sources, not the other variables."""

import os
from typing import Tuple

_PIPES = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
#: The newer name first.
_DUMPS = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
#: Collective operations that it remembers. Without it there is no FIFO.
_SIZE = "2000"


def prefixes(progress: str) -> Tuple[str, str]:
    pipes = os.environ.get(_PIPES) or f"{progress}.nccl-"
    dumps = next((os.environ[name] for name in _DUMPS if os.environ.get(name)), None)
    return pipes, dumps or f"{progress}.nccl-dump-"


def enable(progress: str) -> None:
    pipes, dumps = prefixes(progress)
    size = next((os.environ[name] for name in _SIZES if os.environ.get(name)), _SIZE)
    for name, value in [(_PIPES, pipes), *((n, dumps) for n in _DUMPS), *((n, size) for n in _SIZES)]:
        os.environ.setdefault(name, value)
