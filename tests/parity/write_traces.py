#!/usr/bin/env python3
"""Writes docs/parity.md: fifty steps of chargpt beside fifty of the reference. Takes the parity program's path.

The section on the lecture's own run, which takes hours, stays as it is.
"""

import platform
import sys
from pathlib import Path

import torch

from support import LECTURE, SWITCHES, ParityProgram
from traces import SEED, STEPS, Training, losses_by_path

BATCH = 4
SHOWN = (1, 2, 3, 5, 10, 20, 30, 40, 50)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "parity.md"
LECTURE_RUN = "\n## The lecture's run"

HEAD = f"""# Training is the lecture's training

{STEPS} steps of `chargpt` beside {STEPS} steps of the lecture's model in plain PyTorch ([`tests/reference/char_gpt.py`](../tests/reference/char_gpt.py), with
`torch.optim.AdamW`): from the weights of seed {SEED}, on the same batches, both in single precision, at the lecture's sizes ({LECTURE.layers} layers,
{LECTURE.heads} heads, width {LECTURE.width}, context {LECTURE.context}, {LECTURE.vocabulary} characters; learning rate 1e-3) with {BATCH} windows a batch of a made-up text. With dropout, the masks that `chargpt`
draws are given to the reference. Losses are nats per character before each update.

`./dev test` makes the same comparison at smaller sizes, on every attention path, with limits of 1e-4 without dropout and 1e-3 with it
([`tests/parity/training_test.py`](../tests/parity/training_test.py)), beside those of initial weights (bit for bit), logits, gradients and
optimizer steps; all of them also with the switches of the model section (tied head, no biases, dropout of the embeddings, GPT-2's initial weights). The traces are regenerated, after `./dev test`, by

    .deps/python/bin/python3 -B tests/parity/write_traces.py build/dev/bin/parity_program
"""


def table(reference, losses):
    rows = ["| step | reference | chargpt | difference |", "| ---: | ---: | ---: | ---: |"]
    for step in SHOWN:
        wanted, got = reference[step - 1].item(), losses[step - 1].item()
        rows.append(f"| {step} | {wanted:.6f} | {got:.6f} | {abs(got - wanted):.1e} |")
    return "\n".join(rows)


def section(program, title, dropout, switches=None):
    paths = program.ask("paths")["paths"]
    reference, losses = losses_by_path(program, Training(LECTURE, BATCH, dropout, switches=switches or {}), paths)
    largest = ", ".join(f"`{path}` {(got - reference).abs().max().item():.1e}" for path, got in losses.items())
    return (f"\n## {title}\n\n`model.attention: auto`:\n\n{table(reference, losses['auto'])}\n\n"
            f"Largest difference in the {STEPS} steps, by attention path: {largest}.\n")


def main():
    with ParityProgram(sys.argv[1]) as program:
        page = (HEAD + section(program, "Without dropout", 0.0) + section(program, "With dropout 0.4", 0.4)
                + section(program, "With dropout 0.4 and all switches of the model section", 0.4, SWITCHES[-1]))
    machine = (f"\nMeasured with PyTorch {torch.__version__.split('+')[0]} on {platform.system()} "
               f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}; elsewhere the last digits differ.\n")
    _, heading, lecture_run = PAGE.read_text(encoding="utf-8").partition(LECTURE_RUN)
    PAGE.write_text(page + machine + heading + lecture_run, encoding="utf-8")


if __name__ == "__main__":
    main()
