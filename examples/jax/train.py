"""Data-parallel training with jax.distributed and orbax, one process in each Pod.

Environment: `RANK` and `WORLD_SIZE`; `MASTER_ADDR`, the host name of rank 0, and `MASTER_PORT`;
`LISTEN_ADDRESS`, the Pod's own address; `CHECKPOINT_DIRECTORY`, which all Pods share;
`COMPILED_DIRECTORY`, which is the Pod's own; `STEPS`, `CHECKPOINT_STEPS` and `STEP_SECONDS`. On
Lockstep's embedded cluster, volumes are below `LOCKSTEP_ROOT`.
"""
import hashlib
import os
import pathlib
import pickle
import time

import jax
import jax.numpy as jnp
import lockstep.jax
import numpy as np
import orbax.checkpoint as ocp
from jax.experimental import serialize_executable
from jax.sharding import Mesh, NamedSharding, PartitionSpec

RANK = int(os.environ["RANK"])
WORLD_SIZE = int(os.environ["WORLD_SIZE"])
STEPS = int(os.environ["STEPS"])
CHECKPOINT_STEPS = int(os.environ["CHECKPOINT_STEPS"])
# A real step takes time; without this, the run would be over before you could look at it.
STEP_SECONDS = float(os.environ["STEP_SECONDS"])
VOLUMES = os.environ.get("LOCKSTEP_ROOT", "")
CHECKPOINTS = VOLUMES + os.environ["CHECKPOINT_DIRECTORY"]
COMPILED = pathlib.Path(VOLUMES + os.environ["COMPILED_DIRECTORY"])
ROWS_PER_RANK = 32
WIDTH = 16


def compiled(step, *arguments):
    """The program of a step for these arguments. The first process of this Pod compiles it, and
    later ones load what that one has written."""
    lowered = step.lower(*arguments)
    text = f"{jax.__version__} {lowered.as_text()}"
    path = COMPILED / hashlib.sha256(text.encode()).hexdigest()
    if path.exists():
        return serialize_executable.deserialize_and_load(*pickle.loads(path.read_bytes()))
    program = lowered.compile()
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(pickle.dumps(serialize_executable.serialize(program)))
    temporary.rename(path)
    return program


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
    # Here a warm standby waits for its turn, before JAX looks for devices.
    lockstep.wait_for_start()
    lockstep.jax.initialize(
        coordinator_bind_address=f"{os.environ['LISTEN_ADDRESS']}:{os.environ['MASTER_PORT']}"
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
        lockstep.restored(checkpoint)
    first = checkpoint or 0
    print(f"rank {RANK} of {WORLD_SIZE} starts at step {first}", flush=True)

    def batch(step):
        return [jax.make_array_from_process_local_data(split, rows) for rows in rows_of(step)]

    program = compiled(train_step, parameters, *batch(first))
    for step in lockstep.steps(first + 1, STEPS):
        parameters, loss = program(parameters, *batch(step))
        loss.block_until_ready()
        if step % CHECKPOINT_STEPS == 0:
            with lockstep.phase("save", timeout="10m"):
                manager.save(step, args=ocp.args.StandardSave(parameters))
            lockstep.checkpoint(step)
        print(f"rank {RANK} did step {step} of {STEPS}, loss {loss:.4f}", flush=True)
        time.sleep(STEP_SECONDS)
    manager.close()
    jax.distributed.shutdown()


main()
