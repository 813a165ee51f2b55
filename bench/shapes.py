"""The models that speed is compared at, for the peer and for chargpt."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    layers: int
    heads: int
    width: int
    context: int
    dropout: float
    batch: int  # windows of a training step


SHAPES = {
    "A": Shape(vocabulary=98, layers=12, heads=16, width=128, context=64, dropout=0.4, batch=500),  # the lecture's
    "B": Shape(vocabulary=65, layers=4, heads=4, width=128, context=64, dropout=0.0, batch=12),  # nanoGPT on a CPU
    "C": Shape(vocabulary=65, layers=6, heads=6, width=384, context=256, dropout=0.2, batch=64),  # nanoGPT's baby GPT
}
