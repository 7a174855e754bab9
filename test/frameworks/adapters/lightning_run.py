"""Trains with Lightning, on from the newest checkpoint: `lightning_run.py DIRECTORY STEPS PACKAGE`."""
import importlib
import pathlib
import sys
import time

import old_torch  # noqa: F401
import torch

import lockstep

lightning = importlib.import_module(sys.argv[3])
from lockstep.lightning import LockstepCallback

DIRECTORY = pathlib.Path(sys.argv[1])
STEPS = int(sys.argv[2])


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        time.sleep(0.02)
        return self.layer(batch).square().mean()

    def validation_step(self, batch, index):
        self.log("loss", self.layer(batch).square().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


lockstep.wait_for_start()
lockstep.wait_for_master()
rows = torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=2)
trainer = lightning.Trainer(
    max_steps=STEPS,
    accelerator="cpu",
    devices=1,
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    val_check_interval=5,
    limit_val_batches=2,
    callbacks=[
        LockstepCallback(save_timeout="5m"),
        lightning.callbacks.ModelCheckpoint(
            DIRECTORY, every_n_train_steps=4, save_top_k=-1, save_last=True
        ),
    ],
)
newest = DIRECTORY / "last.ckpt"
trainer.fit(Model(), rows, rows, ckpt_path=str(newest) if newest.exists() else None)
