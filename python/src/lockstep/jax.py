"""For programs that use `jax.distributed`."""

import os
from typing import Any

from . import _errors, _worker
from ._waits import wait_for_master


def initialize(**options: Any) -> None:
    """`jax.distributed.initialize`, once rank 0 listens, with the numbers of `RANK` and `WORLD_SIZE` and
    the address of `MASTER_ADDR` and `MASTER_PORT` where they are set. `options` go to JAX and come first.

    In a worker, an exception from here on ends the process at once: an ordinary exit of JAX waits, for
    minutes, until the other processes shut down too."""
    import jax

    given = {
        "num_processes": os.environ.get("WORLD_SIZE", ""),
        "process_id": os.environ.get("RANK", ""),
    }
    for name, text in given.items():
        if text.isdigit():
            options.setdefault(name, int(text))
    host = os.environ.get("MASTER_ADDR")
    port = os.environ.get("MASTER_PORT")
    if host and port:
        # gRPC has a resolver of its own, which does not know all names that the system knows.
        found = wait_for_master(rank=options.get("process_id")) or host
        shown = f"[{found}]" if ":" in found else found
        options.setdefault("coordinator_address", f"{shown}:{port}")
    if _worker.PROGRESS_FILE is not None:
        _errors.end_at_once()
    jax.distributed.initialize(**options)
