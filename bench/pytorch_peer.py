#!/usr/bin/env python3
"""The same models in plain PyTorch, as one would write them without chargpt, and how fast they train and sample.

    pytorch_peer.py train  --shape A|B|C [--style seed|fused] [--batch N] [--steps N] [--warmup N] [--threads N]
    pytorch_peer.py sample --shape A|B|C [--style seed|fused] [--chars N] [--threads N]

Style seed is the lecture's: a module a head, softmax over the masked scores, heads concatenated. Style fused is
nanoGPT's: one product for queries, keys and values, and scaled_dot_product_attention. Weights and text are random:
speed does not depend on them. Prints one JSON object.
"""
import argparse
import json
import math
import os
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

from shapes import SHAPES


class SeedHead(nn.Module):
    def __init__(self, shape):
        super().__init__()
        size = shape.width // shape.heads
        self.query = nn.Linear(shape.width, size, bias=False)
        self.key = nn.Linear(shape.width, size, bias=False)
        self.value = nn.Linear(shape.width, size, bias=False)
        self.dropout = nn.Dropout(shape.dropout)
        self.register_buffer("tril", torch.ones(shape.context, shape.context).tril())

    def forward(self, x):
        time_steps, scale = x.size(1), math.sqrt(self.key.out_features)
        scores = self.query(x) @ self.key(x).mT / scale
        scores = scores.masked_fill(self.tril[:time_steps, :time_steps] == 0, -math.inf)
        return self.dropout(scores.softmax(-1)) @ self.value(x)


class SeedHeads(nn.ModuleList):
    def __init__(self, shape):
        super().__init__([SeedHead(shape) for _ in range(shape.heads)])

    def forward(self, x):
        return torch.cat([head(x) for head in self], dim=-1)


class FusedHeads(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads, self.p = shape.heads, shape.dropout
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)

    def forward(self, x):
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        p = self.p if self.training else 0.0
        return F.scaled_dot_product_attention(query, key, value, dropout_p=p, is_causal=True).transpose(1, 2).flatten(2)


STYLES = {"seed": SeedHeads, "fused": FusedHeads}


class Block(nn.Module):
    def __init__(self, shape, style):
        super().__init__()
        width = shape.width
        self.attention = nn.Sequential(
            nn.LayerNorm(width), STYLES[style](shape), nn.Linear(width, width), nn.Dropout(shape.dropout))
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width),
            nn.Dropout(shape.dropout))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.feed_forward(x)


class PeerGPT(nn.Module):
    def __init__(self, shape, style):
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.Sequential(*(Block(shape, style) for _ in range(shape.layers)))
        self.norm = nn.LayerNorm(shape.width)
        self.logits = nn.Linear(shape.width, shape.vocabulary)

    def forward(self, ids):
        return self.logits(self.norm(self.hidden(ids)))

    def next_logits(self, ids):
        return self.logits(self.norm(self.hidden(ids)[:, -1]))

    def hidden(self, ids):
        return self.blocks(self.tokens(ids) + self.positions.weight[:ids.size(1)])


def training_step(model, optimizer, ids):
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def measure_training(options, shape):
    model = PeerGPT(shape, options.style)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=options.style == "fused")
    batch = options.batch or shape.batch
    seconds = []
    for _ in range(options.warmup + options.steps):
        ids = torch.randint(shape.vocabulary, (batch, shape.context + 1))
        start = time.perf_counter()
        training_step(model, optimizer, ids)
        seconds.append(time.perf_counter() - start)
    measured, tokens = seconds[options.warmup:], batch * shape.context
    median, best = statistics.median(measured), min(measured)
    return {"batch": batch, "step_seconds_median": median, "step_seconds_min": best,
            "tokens_per_second": tokens / median, "tokens_per_second_best": tokens / best}


@torch.inference_mode()
def measure_sampling(options, shape):
    model = PeerGPT(shape, options.style).eval()
    batch = options.batch or 1
    ids = torch.zeros(batch, 1, dtype=torch.long)
    start = time.perf_counter()
    for _ in range(options.chars):
        probabilities = model.next_logits(ids[:, -shape.context:]).softmax(-1)
        ids = torch.cat([ids, probabilities.multinomial(1)], dim=1)
    seconds = time.perf_counter() - start
    return {"batch": batch, "chars": options.chars, "chars_per_second": batch * options.chars / seconds}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=("train", "sample"))
    parser.add_argument("--shape", choices=SHAPES, default="B")
    parser.add_argument("--style", choices=STYLES, default="fused")
    parser.add_argument("--batch", type=int, help="windows of a step (default: the shape's), or streams (default: 1)")
    parser.add_argument("--steps", type=int, default=5, help="training steps that count")
    parser.add_argument("--warmup", type=int, default=2, help="training steps before them")
    parser.add_argument("--chars", type=int, default=256, help="characters to sample")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def main():
    options = parse_options()
    torch.set_num_threads(options.threads)
    torch.manual_seed(12046)
    measure = {"train": measure_training, "sample": measure_sampling}[options.job]
    result = measure(options, SHAPES[options.shape])
    result |= {"job": options.job, "shape": options.shape, "style": options.style, "threads": options.threads,
               "torch": torch.__version__, "cpu_capability": torch.backends.cpu.get_cpu_capability(),
               "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
