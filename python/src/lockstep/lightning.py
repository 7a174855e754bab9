"""For PyTorch Lightning: `Trainer(callbacks=[LockstepCallback(save_timeout="20m")])`."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from . import torch as _torch  # noqa: F401  It prepares the flight recorder.
from ._progress import PROGRESS, Timeout, checkpoint, phase, restored, step
from ._worker import PROGRESS_FILE

if TYPE_CHECKING:
    Callback = object
else:
    # Both may be installed: the one that the program has imported counts.
    _names = sorted(["lightning.pytorch", "pytorch_lightning"], key=lambda name: name not in sys.modules)
    Callback = import_module(next((n for n in _names if find_spec(n.split(".")[0])), _names[0])).Callback


class LockstepCallback(Callback):
    """Reports each optimizer step, batches of evaluations as the phase `evaluate`, and saves as the phase
    `save`, which may take `save_timeout`. Checkpoints count once they are written; not those without the
    state of the optimizer, and not those that Lightning writes in the background."""

    def __init__(self, save_timeout: Timeout = None) -> None:
        super().__init__()
        self._save = phase("save", save_timeout)
        self._evaluation = phase("evaluate")

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage != "fit" or PROGRESS_FILE is None:
            return
        save = trainer.save_checkpoint

        def report_save(filepath: Any, weights_only: bool = False, *args: Any, **options: Any) -> None:
            with self._save:
                save(filepath, weights_only, *args, **options)
            is_in_background = type(trainer.strategy.checkpoint_io).__name__ == "AsyncCheckpointIO"
            if not weights_only and not is_in_background:
                checkpoint(trainer.global_step)

        trainer.save_checkpoint = report_save

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        # The trainer's own method is behind the one that `setup` has put there.
        vars(trainer).pop("save_checkpoint", None)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.global_step > 0:
            restored(trainer.global_step)

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        step(trainer.global_step)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        # The trial before the first step would start the clock of the progress time-out.
        if not trainer.sanity_checking:
            self._evaluation.__enter__()

    def on_validation_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        if not trainer.sanity_checking:
            PROGRESS.alive()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._evaluation.__exit__()
