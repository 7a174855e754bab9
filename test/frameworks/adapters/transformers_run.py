"""Trains with the Trainer of Transformers, on from the newest checkpoint: `transformers_run.py DIRECTORY STEPS`."""
import pathlib
import sys
import time

import lockstep
from lockstep.transformers import LockstepCallback

import torch
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

DIRECTORY = pathlib.Path(sys.argv[1])
STEPS = int(sys.argv[2])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, rows, labels):
        if self.training:
            time.sleep(0.02)
        predicted = self.layer(rows)
        return {"loss": (predicted - labels).square().mean(), "logits": predicted}


lockstep.wait_for_start()
lockstep.wait_for_master()
rows = [{"rows": torch.ones(4), "labels": torch.ones(1)}] * 16
trainer = Trainer(
    Model(),
    TrainingArguments(
        output_dir=str(DIRECTORY),
        max_steps=STEPS,
        per_device_train_batch_size=2,
        per_device_eval_batch_size=4,
        save_steps=4,
        eval_strategy="steps",
        eval_steps=5,
        save_safetensors=False,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
    ),
    train_dataset=rows,
    eval_dataset=rows,
    callbacks=[LockstepCallback(save_timeout="5m")],
)
trainer.train(resume_from_checkpoint=get_last_checkpoint(DIRECTORY))
