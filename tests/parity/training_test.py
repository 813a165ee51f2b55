"""Fifty steps of chargpt are fifty steps of the reference. docs/parity.md has the traces at the lecture's sizes."""

import unittest

import torch

from support import SWITCHES, ParityProgram, Sizes
from traces import SEED, Training, chargpt_training, initial_weights, losses_by_path

SIZES = Sizes(layers=3, heads=4, width=48, context=24, vocabulary=29)
WITHOUT_DROPOUT, WITH_MASKS = 1e-4, 1e-3


class TrainingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = cls.enterClassContext(ParityProgram())
        cls.paths = cls.program.ask("paths")["paths"]

    def compare(self, **options):
        """Every path's losses against the reference's."""
        training = Training(SIZES, batch=6, **options)
        wanted, losses = losses_by_path(self.program, training, self.paths)
        self.assertLess(wanted[-5:].mean(), wanted[:5].mean() - 0.2, "nothing was learned: a weak comparison")
        most = WITH_MASKS if training.dropout else WITHOUT_DROPOUT
        for path, got in losses.items():
            with self.subTest(path=path):
                self.assertLessEqual((got - wanted).abs().max().item(), most)

    def test_starts_from_the_seeds_weights(self):
        torch.manual_seed(SEED)
        wanted = SIZES.reference().state_dict()
        got = initial_weights(chargpt_training(self.program, Training(SIZES, batch=2)))
        self.assertTrue(all(torch.equal(got[name], tensor) for name, tensor in wanted.items()))

    def test_losses_are_the_references(self):
        self.compare()

    def test_with_our_dropout_masks_in_the_reference_they_are_too(self):
        self.compare(dropout=0.4)

    def test_clipped_in_micro_batches_they_are_too(self):
        self.compare(dropout=0.4, micro_batch=4, clip=0.5)

    def test_with_all_switches_of_the_model_they_are_too(self):
        self.compare(dropout=0.4, micro_batch=4, switches=SWITCHES[-1])


if __name__ == "__main__":
    unittest.main()
