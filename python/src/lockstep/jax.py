"""For programs that use `jax.distributed`."""

import os
from typing import Any

from . import _errors, _worker
from ._waits import wait_for_master


def initialize(**options: Any) -> None:
    """`jax.distributed.initialize`, with the numbers of `RANK` and `WORLD_SIZE`, once rank 0 listens at
    `MASTER_ADDR` and `MASTER_PORT`. `options` go to JAX and come first: with a `coordinator_address` it does
    not wait. In a worker, an exception from here on ends the process at once: an ordinary exit of JAX waits,
    for minutes, until the other processes shut down too."""
    import jax

    for name, variable in {"num_processes": "WORLD_SIZE", "process_id": "RANK"}.items():
        number = _worker.number(os.environ.get(variable))
        if number is not None:
            options.setdefault(name, number)
    host, port = os.environ.get("MASTER_ADDR"), _worker.number(os.environ.get("MASTER_PORT"))
    if options.get("coordinator_address") is None and host and port is not None:
        # gRPC has a resolver of its own, which does not know all names that the system knows.
        found = wait_for_master(rank=options.get("process_id")) or host
        shown = f"[{found}]" if ":" in found else found
        options["coordinator_address"] = f"{shown}:{port}"
    if _worker.PROGRESS_FILE is not None:
        _errors.ends_at_once = True
    jax.distributed.initialize(**options)
