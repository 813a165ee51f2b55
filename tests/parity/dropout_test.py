"""Dropout drops at its rate, and independently across layers, heads, windows, steps and seeds."""

import itertools
import unittest

import torch

from support import ParityProgram, Sizes

SIZES = Sizes(layers=3, heads=3, width=96, context=64, vocabulary=2)
WINDOWS = 3
RATE = 0.4
MODEL = SIZES.model(dropout=RATE, embedding_dropout=True)  # drops wherever there is something to drop
# Of the standard normal distribution. The masks are fixed, so that a test that passes once always will; some 40,000
# independent pairs stay below 5 with a probability of 98 %.
SIGMAS = 5.0


def flat_masks(program, seed, step):
    """Every mask of one step as a vector of zeros and ones (kept), by where it belongs."""
    masks = program.masks(MODEL, WINDOWS, seed=seed, step=step, first_window=0)
    vectors = {}
    for name, mask in masks.items():
        parts = mask if mask.dim() == 3 else mask.flatten(0, 1)  # a head of a window each
        for i, part in enumerate(parts):
            vectors[seed, step, name, i] = (part != 0).double().flatten()
    return vectors


class DropoutStatistics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vectors = {}
        with ParityProgram() as program:
            for seed, step in itertools.product((0, 1, 12046), (0, 1, 2)):
                cls.vectors |= flat_masks(program, seed, step)

    def test_drops_at_its_rate_everywhere(self):
        for place, kept in self.vectors.items():
            deviation = (kept.mean().item() - (1 - RATE)) / (RATE * (1 - RATE) / kept.numel()) ** 0.5
            self.assertLess(abs(deviation), SIGMAS, place)

    def test_keeps_the_mean(self):
        with ParityProgram() as program:
            for mask in program.masks(MODEL, 1, seed=1, step=1, first_window=0).values():
                self.assertAlmostEqual(mask.max().item() * (1 - RATE), 1.0, places=4)

    def test_no_two_masks_are_correlated(self):
        """Other layers, heads, windows, steps, seeds: every pair of masks of one size."""
        by_size = {}
        for kept in self.vectors.values():
            by_size.setdefault(kept.numel(), []).append(kept)
        for size, vectors in by_size.items():
            correlations = torch.corrcoef(torch.stack(vectors)).fill_diagonal_(0.0)
            self.assertLess(correlations.abs().max().item(), SIGMAS / size**0.5, f"masks of {size} elements")


if __name__ == "__main__":
    unittest.main()
