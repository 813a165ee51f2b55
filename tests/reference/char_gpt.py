"""The lecture's character-level GPT in plain PyTorch: what chargpt is compared with. It shares no code with chargpt.

Dimensions: B windows, T positions, C width, H heads, D = C / H head size, V vocabulary. What CharGPT's keyword arguments
say otherwise than their defaults is not the lecture's but GPT-2's: no biases, a tied head, dropout of the embeddings,
other initial weights.
"""

import math

import torch
from torch import nn
from torch.nn import functional


class Dropout(nn.Module):
    """Drops at random while training, or multiplies by what it was given: 0 for dropped, 1 / (1 - p) for kept."""

    def __init__(self, p):
        super().__init__()
        self.p = p
        self.multipliers = None

    def forward(self, x):
        if self.multipliers is not None:
            return x * self.multipliers
        return functional.dropout(x, self.p, self.training)


def attention(query, key, value, mask, dropout):
    """softmax(q kᵀ / sqrt(D), -inf where mask is 0), dropout on the weights, times v. (B, T, D) each; mask (T, T)."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (B, T, T)
    scores = scores.masked_fill(mask == 0, float("-inf"))
    return dropout(torch.softmax(scores, dim=-1)) @ value  # (B, T, D)


class MaskedAttention(nn.Module):
    """One head: (B, T, C) -> (B, T, D)."""

    def __init__(self, width, head_size, context, dropout):
        super().__init__()
        self.key = nn.Linear(width, head_size, bias=False)
        self.query = nn.Linear(width, head_size, bias=False)
        self.value = nn.Linear(width, head_size, bias=False)
        self.dropout = Dropout(dropout)
        self.register_buffer("tril", torch.tril(torch.ones(context, context)), persistent=False)

    def forward(self, x):
        length = x.shape[1]
        mask = self.tril[:length, :length]
        return attention(self.query(x), self.key(x), self.value(x), mask, self.dropout)


class MaskedMultiHeadAttention(nn.Module):
    """All heads, concatenated and projected: (B, T, C) -> (B, T, C)."""

    def __init__(self, width, heads, context, dropout, bias):
        super().__init__()
        self.heads = nn.ModuleList(MaskedAttention(width, width // heads, context, dropout) for _ in range(heads))
        self.proj = nn.Linear(width, width, bias=bias)
        self.dropout = Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.proj(torch.cat([head(x) for head in self.heads], dim=-1)))


class FeedForward(nn.Module):
    """(B, T, C) -> (B, T, C) over a hidden width of 4 C, with the exact (erf) GELU."""

    def __init__(self, width, dropout, bias):
        super().__init__()
        self.ln1 = nn.Linear(width, 4 * width, bias=bias)
        self.ln2 = nn.Linear(4 * width, width, bias=bias)
        self.dropout = Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.ln2(functional.gelu(self.ln1(x))))


class Block(nn.Module):
    """Pre-LN: each part reads the normalised stream and adds to it."""

    def __init__(self, width, heads, context, dropout, bias):
        super().__init__()
        self.l1 = nn.LayerNorm(width, bias=bias)
        self.mha = MaskedMultiHeadAttention(width, heads, context, dropout, bias)
        self.l2 = nn.LayerNorm(width, bias=bias)
        self.ff = FeedForward(width, dropout, bias)

    def forward(self, x):
        x = x + self.mha(self.l1(x))
        return x + self.ff(self.l2(x))


def draw_like_gpt2(model, layers):
    """Normal of deviation 0.02, less by sqrt(2 layers) where a residual branch ends; biases 0; LayerNorms stay 1 and 0."""
    for name, parameter in model.named_parameters():
        if name.endswith(("proj.weight", "ln2.weight")):
            nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers))
        elif parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.02)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)


class CharGPT(nn.Module):
    """ids (B, T), T <= context -> logits (B, T, V)."""

    def __init__(self, vocabulary, layers, heads, width, context, dropout=0.0, *, embedding_dropout=False,
                 tied_head=False, bias=True, initialization="pytorch"):
        super().__init__()
        self.token_emb = nn.Embedding(vocabulary, width)
        self.pos_emb = nn.Embedding(context, width)
        self.dropout = Dropout(dropout if embedding_dropout else 0.0)
        self.blocks = nn.ModuleList(Block(width, heads, context, dropout, bias) for _ in range(layers))
        self.l = nn.LayerNorm(width, bias=bias)
        self.lm = nn.Linear(width, vocabulary, bias=bias)
        if tied_head:
            self.lm.weight = self.token_emb.weight
        if initialization == "gpt2":
            draw_like_gpt2(self, layers)

    def forward(self, ids):
        x = self.token_emb(ids) + self.pos_emb(torch.arange(ids.shape[1]))  # (B, T, C)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.lm(self.l(x))
