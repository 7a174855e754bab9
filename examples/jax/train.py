"""Data-parallel training with jax.distributed and orbax, one process in each Pod.

All it knows of Lockstep is the file in which it reports its progress. Environment: `RANK` and
`WORLD_SIZE`; `COORDINATOR`, the host name of rank 0, and `COORDINATOR_PORT`; `LISTEN_ADDRESS`, the
Pod's own address; `CHECKPOINT_DIRECTORY`, which all Pods share; `STEPS`, `CHECKPOINT_STEPS` and
`STEP_SECONDS`. On Lockstep's embedded cluster, volumes are below `LOCKSTEP_ROOT`, and a node
without namespaces has the names of Pods in the file `LOCKSTEP_HOSTS`.
"""
import os
import socket
import time
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

RANK = int(os.environ["RANK"])
WORLD_SIZE = int(os.environ["WORLD_SIZE"])
STEPS = int(os.environ["STEPS"])
CHECKPOINT_STEPS = int(os.environ["CHECKPOINT_STEPS"])
# A real step takes time; without this, the run would be over before you could look at it.
STEP_SECONDS = float(os.environ["STEP_SECONDS"])
CHECKPOINTS = os.environ.get("LOCKSTEP_ROOT", "") + os.environ["CHECKPOINT_DIRECTORY"]
ROWS_PER_RANK = 32
WIDTH = 16
HOST_SECONDS = 60


def address_of(host):
    """The address of a Pod by its name, which DNS may learn a little later than the Pod starts."""
    deadline = time.monotonic() + HOST_SECONDS
    while True:
        try:
            return socket.gethostbyname(host)
        except socket.gaierror:
            for line in open(os.environ.get("LOCKSTEP_HOSTS", os.devnull)):
                if host in line.split()[1:]:
                    return line.split()[0]
            if time.monotonic() > deadline:
                raise
        time.sleep(0.2)


def report(step, checkpoint):
    """Tells Lockstep how far this process is."""
    path = os.environ.get("LOCKSTEP_PROGRESS_FILE")
    if path is None:
        return
    with open(path, "a") as file:
        file.write(f"{step}\n" if checkpoint is None else f"{step} checkpoint={checkpoint}\n")


def rows_of(step):
    """This rank's part of the batch of a step: the same whenever the step is done again."""
    inputs = np.random.default_rng([step, RANK]).normal(size=(ROWS_PER_RANK, WIDTH))
    return inputs.astype(np.float32), np.sin(inputs.sum(axis=1, keepdims=True)).astype(np.float32)


def loss_of(parameters, inputs, targets):
    hidden = jnp.tanh(inputs @ parameters["in"])
    return jnp.mean((hidden @ parameters["out"] - targets) ** 2)


@jax.jit
def train_step(parameters, inputs, targets):
    loss, gradient = jax.value_and_grad(loss_of)(parameters, inputs, targets)
    return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradient), loss


def main():
    jax.distributed.initialize(
        f"{address_of(os.environ['COORDINATOR'])}:{os.environ['COORDINATOR_PORT']}",
        num_processes=WORLD_SIZE,
        process_id=RANK,
        coordinator_bind_address=f"{os.environ['LISTEN_ADDRESS']}:{os.environ['COORDINATOR_PORT']}",
    )
    mesh = Mesh(jax.devices(), ("data",))
    everywhere = NamedSharding(mesh, PartitionSpec())
    split = NamedSharding(mesh, PartitionSpec("data"))

    def initial(shape, seed):
        values = np.random.default_rng(seed).normal(size=shape, scale=0.3).astype(np.float32)
        return jax.make_array_from_process_local_data(everywhere, values)

    parameters = {"in": initial((WIDTH, 64), 1), "out": initial((64, 1), 2)}
    # Orbax writes beside the checkpoint and renames it when all processes have written, so the
    # newest step that it finds is complete. What a killed process left half written, it removes.
    manager = ocp.CheckpointManager(
        CHECKPOINTS,
        options=ocp.CheckpointManagerOptions(
            max_to_keep=2, enable_async_checkpointing=False, cleanup_tmp_directories=True
        ),
    )
    checkpoint = manager.latest_step()
    if checkpoint is not None:
        parameters = manager.restore(checkpoint, args=ocp.args.StandardRestore(parameters))
    first = checkpoint or 0
    print(f"rank {RANK} of {WORLD_SIZE} starts at step {first}", flush=True)

    for step in range(first + 1, STEPS + 1):
        inputs, targets = (
            jax.make_array_from_process_local_data(split, rows) for rows in rows_of(step)
        )
        parameters, loss = train_step(parameters, inputs, targets)
        loss.block_until_ready()
        if step % CHECKPOINT_STEPS == 0:
            manager.save(step, args=ocp.args.StandardSave(parameters))
            checkpoint = step
        report(step, checkpoint)
        print(f"rank {RANK} did step {step} of {STEPS}, loss {loss:.4f}", flush=True)
        time.sleep(STEP_SECONDS)
    manager.close()
    jax.distributed.shutdown()


try:
    main()
except Exception:
    traceback.print_exc()
    # An ordinary exit would first wait, for minutes, for the other processes to shut down too.
    os._exit(1)
