"""Data-parallel training with PyTorch's DistributedDataParallel over gloo.

It runs as the one process of each Pod, and as one of several that torchrun starts there. Environment:
what PyTorch reads itself (`RANK`, `WORLD_SIZE`, `MASTER_ADDR`, `MASTER_PORT`); `CHECKPOINT_DIRECTORY`,
which all Pods share; `STEPS`, `CHECKPOINT_STEPS` and `STEP_SECONDS`. On Lockstep's embedded cluster,
volumes are below `LOCKSTEP_ROOT`.
"""
import os
import pathlib
import re
import time

import lockstep.torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = int(os.environ["STEPS"])
CHECKPOINT_STEPS = int(os.environ["CHECKPOINT_STEPS"])
# A real step takes time; without this, the run would be over before you could look at it.
STEP_SECONDS = float(os.environ["STEP_SECONDS"])
CHECKPOINTS = pathlib.Path(
    os.environ.get("LOCKSTEP_ROOT", "") + os.environ["CHECKPOINT_DIRECTORY"]
)
ROWS_PER_RANK = 32
WIDTH = 16
KEPT_CHECKPOINTS = 2


def checkpoints():
    """The steps of all complete checkpoints, in order."""
    names = (re.fullmatch(r"step-(\d+)\.pt", path.name) for path in CHECKPOINTS.iterdir())
    return sorted(int(name[1]) for name in names if name)


def save(step, state):
    """Writes a file beside the others and renames it, so that none is ever half written."""
    temporary = CHECKPOINTS / "temporary"
    with open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(CHECKPOINTS / f"step-{step}.pt")
    for old in checkpoints()[:-KEPT_CHECKPOINTS]:
        (CHECKPOINTS / f"step-{old}.pt").unlink()


def rows_of(step, rank):
    """This rank's part of the batch of a step: the same whenever the step is done again."""
    generator = torch.Generator().manual_seed(1_000_003 * rank + step)
    inputs = torch.randn(ROWS_PER_RANK, WIDTH, generator=generator)
    return inputs, torch.sin(inputs.sum(dim=1, keepdim=True))


def main():
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    # Here a warm standby waits for its turn.
    lockstep.wait_for_start()
    lockstep.torch.init_process_group("gloo")
    rank = dist.get_rank()
    # No rank writes before all have taken a step, so all read the same one.
    checkpoint = max(checkpoints(), default=None)
    if checkpoint is not None:
        state = torch.load(CHECKPOINTS / f"step-{checkpoint}.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        lockstep.restored(checkpoint)
    first = checkpoint or 0
    parallel = DistributedDataParallel(model)
    print(f"rank {rank} of {dist.get_world_size()} starts at step {first}", flush=True)

    for step in lockstep.steps(first + 1, STEPS):
        inputs, targets = rows_of(step, rank)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(parallel(inputs), targets)
        loss.backward()
        optimizer.step()
        if step % CHECKPOINT_STEPS == 0:
            with lockstep.phase("save", timeout="10m"):
                if rank == 0:
                    save(step, {"model": model.state_dict(), "optimizer": optimizer.state_dict()})
                # It is complete for all of them only now.
                dist.barrier()
            lockstep.checkpoint(step)
        print(f"rank {rank} did step {step} of {STEPS}, loss {loss:.4f}", flush=True)
        time.sleep(STEP_SECONDS)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
