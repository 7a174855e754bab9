"""For Hugging Face Transformers: `Trainer(..., callbacks=[LockstepCallback(save_timeout="20m")])`. Import it
before you make the `TrainingArguments`, which make the process group."""

from typing import TYPE_CHECKING, Any, Optional

from . import torch as _torch  # noqa: F401  It prepares the flight recorder.
from ._progress import PROGRESS, Timeout, checkpoint, phase, restored, step

if TYPE_CHECKING:
    TrainerCallback = object
else:
    from transformers import TrainerCallback


class LockstepCallback(TrainerCallback):
    """Reports each optimizer step, batches of evaluations as the phase `evaluate`, saves as the phase
    `save`, which may take `save_timeout`, and checkpoints."""

    def __init__(self, save_timeout: Timeout = None) -> None:
        self._save = phase("save", save_timeout)
        self._evaluate = phase("evaluate")
        self._current: Optional[phase] = None
        self._saved: Optional[int] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step > 0:
            restored(state.global_step)

    def on_substep_end(self, *_: Any, **__: Any) -> None:
        PROGRESS.alive()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._enter(None)
        if self._saved is not None:
            restored(self._saved)
            self._saved = None
        step(state.global_step)
        if control.should_save and not control.should_evaluate:
            self._enter(self._save)

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # An evaluation before the first step would start the clock of the progress time-out.
        if self._current is self._evaluate:
            PROGRESS.alive()
        elif state.global_step > 0:
            self._enter(self._evaluate)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._enter(self._save if control.should_save else None)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._enter(None)
        if state.is_world_process_zero:
            checkpoint(state.global_step)
        else:
            self._saved = state.global_step

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self._enter(None)

    def _enter(self, new: Optional[phase]) -> None:
        if self._current is not None:
            self._current.__exit__()
        self._current = new
        if new is not None:
            new.__enter__()
