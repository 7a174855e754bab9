"""Checkpoints in two places, in plain Python: often in the memory of each Pod, seldom in shared storage.

The "training" is a sum of digests, so that you can see at the end whether a step was lost or done
twice. Each rank has a state of its own, as in a run that shards its model. Environment: `RANK`,
`WORLD_SIZE`, `COORDINATOR` (the host name of rank 0), `LISTEN_ADDRESS`; `MEMORY_DIRECTORY`, which
is the Pod's own, and `SHARED_DIRECTORY`, which all Pods share; `STEPS`, `MEMORY_STEPS`,
`SHARED_STEPS` and `STEP_SECONDS`. On Lockstep's embedded cluster, volumes are below `LOCKSTEP_ROOT`,
and a node without namespaces has the names of Pods in the file `LOCKSTEP_HOSTS`.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import time

RANK = int(os.environ["RANK"])
WORLD_SIZE = int(os.environ["WORLD_SIZE"])
STEPS = int(os.environ["STEPS"])
MEMORY_STEPS = int(os.environ["MEMORY_STEPS"])
SHARED_STEPS = int(os.environ["SHARED_STEPS"])
STEP_SECONDS = float(os.environ["STEP_SECONDS"])
VOLUMES = os.environ.get("LOCKSTEP_ROOT", "")
MEMORY = pathlib.Path(VOLUMES + os.environ["MEMORY_DIRECTORY"])
SHARED = pathlib.Path(VOLUMES + os.environ["SHARED_DIRECTORY"])
KEPT = 2
PORT = 29700
HOST_SECONDS = 60


class Group:
    """All ranks, connected through rank 0: what `torch.distributed` or `jax.distributed` do for you.
    When a rank dies its connections close, and the others end with an error."""

    def __init__(self):
        if RANK == 0:
            server = socket.create_server((os.environ["LISTEN_ADDRESS"], PORT))
            files = [server.accept()[0].makefile("rw") for _ in range(WORLD_SIZE - 1)]
            self.files = sorted(files, key=lambda file: int(file.readline()))
        else:
            self.files = [connect(os.environ["COORDINATOR"]).makefile("rw")]
            self.files[0].write(f"{RANK}\n")

    def agree(self, value, combine):
        """`combine` of the values of all ranks, in their order, for each of them."""
        if RANK == 0:
            value = combine([value] + [json.loads(file.readline()) for file in self.files])
        for file in self.files:
            file.write(json.dumps(value) + "\n")
            file.flush()
        return value if RANK == 0 else json.loads(self.files[0].readline())

    def barrier(self):
        self.agree(None, lambda values: None)


def connect(host):
    deadline = time.monotonic() + HOST_SECONDS
    while True:
        try:
            return socket.create_connection((resolve(host), PORT))
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def resolve(host):
    for line in open(os.environ.get("LOCKSTEP_HOSTS", os.devnull)):
        if host in line.split()[1:]:
            return line.split()[0]
    return host


def report(line):
    """Tells Lockstep how far this process is."""
    with open(os.environ.get("LOCKSTEP_PROGRESS_FILE", os.devnull), "a") as file:
        file.write(f"{line}\n")


def write(path, state):
    """Writes a file that is whole or not there, whenever this process or its machine dies."""
    temporary = path.with_name(f"{path.name}.tmp")
    with open(temporary, "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    sync(path.parent)


def sync(directory):
    """The name of a file reaches the disk with its directory."""
    descriptor = os.open(directory, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def steps_in(directory):
    """The steps of all complete checkpoints, in order."""
    names = (re.fullmatch(r"step-(\d+)", path.name) for path in directory.iterdir())
    return sorted(int(name[1]) for name in names if name)


def save_in_memory(group, step, state):
    write(MEMORY / f"step-{step}", state)
    # A rank may die while the others write, so the one before stays until all have this one.
    group.barrier()
    for old in steps_in(MEMORY)[:-KEPT]:
        (MEMORY / f"step-{old}").unlink()


def save_in_shared(group, step, state):
    partial = SHARED / f"step-{step}.partial"
    partial.mkdir(exist_ok=True)
    write(partial / f"rank-{RANK}", state)
    group.barrier()
    if RANK == 0:
        # All ranks have written their part, and the new name says so.
        partial.rename(SHARED / f"step-{step}")
        sync(SHARED)
        for old in steps_in(SHARED)[:-KEPT]:
            shutil.rmtree(SHARED / f"step-{old}")
    # Nobody goes on, and reports this checkpoint, before it is complete.
    group.barrier()


def newest(group):
    """The newest checkpoint that every rank can load, and where this one finds its part."""
    if RANK == 0:
        # Nobody else writes there before the next line, in which all ranks meet.
        for partial in SHARED.glob("*.partial"):
            shutil.rmtree(partial)
    # A Pod that was replaced has nothing in its memory, so then they have none in common.
    common = group.agree(
        steps_in(MEMORY), lambda all: sorted(set.intersection(*(set(steps) for steps in all)))
    )
    in_memory = max(common, default=0)
    in_shared = group.agree(max(steps_in(SHARED), default=0), lambda all: all[0])
    if max(in_memory, in_shared) == 0:
        return 0, None
    if in_memory >= in_shared:
        return in_memory, MEMORY / f"step-{in_memory}"
    return in_shared, SHARED / f"step-{in_shared}" / f"rank-{RANK}"


def train(state, step):
    digest = hashlib.sha256(f"{state['digest']} {step} {RANK}".encode()).hexdigest()
    return {"digest": digest}


def main():
    group = Group()
    checkpoint, path = newest(group)
    state = {"digest": ""} if path is None else json.loads(path.read_text())
    # What is newer was not complete, and its steps are done again.
    for step in steps_in(MEMORY):
        if step > checkpoint:
            (MEMORY / f"step-{step}").unlink()
    source = "the beginning" if path is None else str(path).removeprefix(VOLUMES)
    print(f"rank {RANK} starts at step {checkpoint}, from {source}", flush=True)
    report(f"{checkpoint} checkpoint={checkpoint}")
    for step in range(checkpoint + 1, STEPS + 1):
        time.sleep(STEP_SECONDS)
        state = train(state, step)
        if step % SHARED_STEPS == 0:
            save_in_shared(group, step, state)
            checkpoint = step
        elif step % MEMORY_STEPS == 0:
            save_in_memory(group, step, state)
            checkpoint = step
        report(f"{step} checkpoint={checkpoint}")
    digests = group.agree(state["digest"], lambda all: all)
    if RANK == 0:
        print(f"done: {hashlib.sha256(''.join(digests).encode()).hexdigest()[:16]}", flush=True)


main()
