"""Imports the part of PyTorch 1.13 that Lightning needs, on Python 3.11, where dataclasses refuse defaults
that have no hash."""
import dataclasses

given = dataclasses.dataclass


def with_hash(*arguments, **options):
    made = given(*arguments, **options)
    if isinstance(made, type) and made.__hash__ is None:
        made.__hash__ = object.__hash__
    return made


dataclasses.dataclass = with_hash
try:
    import torch.distributed._shard.sharded_tensor  # noqa: F401
finally:
    dataclasses.dataclass = given
