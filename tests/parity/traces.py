"""Losses of the same training by chargpt and by the reference: equal weights, batches and, with dropout, masks."""

import random
from dataclasses import dataclass, field, replace

import torch

from support import Sizes, give_masks, loss_of

STEPS = 50
SEED = 12046


@dataclass(frozen=True)
class Training:
    sizes: Sizes
    batch: int
    dropout: float = 0.0
    path: str = "auto"
    micro_batch: int = 0
    clip: float = 0.0
    switches: dict = field(default_factory=dict)

    def model(self):
        return self.sizes.model(attention=self.path, dropout=self.dropout, **self.switches)

    def config(self, data):
        return {"data": {"path": data, "val_fraction": 0.0},
                "model": self.model(),
                "train": {"steps": STEPS, "batch": self.batch, "micro_batch": self.micro_batch},
                "optimizer": {"learning_rate": 1e-3, "clip": self.clip},
                "run": {"seed": SEED}}


def some_text(vocabulary, length=20_000):
    """A text of that many different characters, in which each is followed by one of three."""
    draw = random.Random(SEED).random
    ids = [0]
    while len(ids) < length:
        ids.append((5 * ids[-1] + 3 + int(3 * draw())) % vocabulary)
    return "".join(chr(ord(" ") + i) for i in ids)


def chargpt_training(program, training):
    """Initial weights, batches, losses and gradient norms of chargpt's own trainer."""
    data = program.folder / "data.txt"
    data.write_text(some_text(training.sizes.vocabulary))
    return program.tensors("training", config=training.config(str(data)))


def reference_losses(program, training, weights, batches):
    """The reference's losses with PyTorch's AdamW on the whole batch; chargpt's masks are asked for step by step."""
    model = training.sizes.reference(**training.switches)
    if training.switches.get("tied_head"):
        weights = weights | {"lm.weight": weights["token_emb.weight"]}
    model.load_state_dict(weights)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step, windows in enumerate(batches):
        if training.dropout:
            give_masks(model, program.masks(training.model(), training.batch, seed=SEED, step=step, first_window=0))
        _, loss = loss_of(model, windows)
        optimizer.zero_grad()
        loss.backward()
        if training.clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), training.clip)
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.double)


def initial_weights(run):
    prefix = "initial."
    return {name.removeprefix(prefix): tensor for name, tensor in run.items() if name.startswith(prefix)}


def losses_by_path(program, training, paths):
    """The reference's loss for each step, and chargpt's on each attention path. Weights and batches are the same."""
    runs = {path: chargpt_training(program, replace(training, path=path)) for path in paths}
    first, *others = runs.values()
    for run in others:
        if not torch.equal(run["batches"], first["batches"]):
            raise AssertionError("the batches depend on the attention path")
    reference = reference_losses(program, training, initial_weights(first), first["batches"])
    return reference, {path: run["losses"] for path, run in runs.items()}
