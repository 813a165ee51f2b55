"""Logits, loss and every gradient are the reference's, on every attention path, with and without dropout."""

import unittest

import torch

from support import (LECTURE, SMALL, SWITCHES, ParityProgram, largest_difference, reference_pass, some_ids,
                     some_weights)

EXACT_PATHS = ("heads", "fused")  # these can compute in double precision
EXACT, SINGLE = 1e-10, 1e-5  # largest differences, relative to a tensor's largest value
DROPOUT = 0.4
PLACE = {"seed": 7, "step": 19, "first_window": 3}
PLACES = ("attention_weights", "projection", "feed_forward")


class Pass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = cls.enterClassContext(ParityProgram())
        cls.paths = cls.program.ask("paths")["paths"]

    def compare(self, sizes, windows, length, dropout=0.0, label_smoothing=0.0, **switches):
        """Every path against the reference, in each precision that it has."""
        weights = some_weights(sizes, **switches)
        ids = some_ids(sizes, windows, length)
        model = sizes.model(dropout=dropout, **switches)
        masks = self.program.masks(model, windows, length, **PLACE) if dropout else None
        wanted = reference_pass(sizes, weights, ids, masks, label_smoothing, **switches)
        request = {"label_smoothing": label_smoothing, "vocabulary": sizes.vocabulary,
                   "weights": self.program.file("weights.safetensors", weights),
                   "ids": ids.tolist(), **PLACE}
        for path in self.paths:
            for precision, most in (("double", EXACT), ("float", SINGLE)):
                if precision == "double" and path not in EXACT_PATHS:
                    continue
                with self.subTest(sizes=sizes, length=length, path=path, precision=precision, switches=switches):
                    got = self.program.tensors("pass", model=model | {"attention": path}, precision=precision,
                                               **request)
                    self.assertLessEqual(largest_difference(got, wanted), (most, ""))

    def test_is_the_references(self):
        self.compare(SMALL, windows=3, length=SMALL.context)
        self.compare(LECTURE, windows=2, length=LECTURE.context)

    def test_shorter_windows_are_too(self):
        for length in (1, 2, 37):
            self.compare(SMALL, windows=4, length=length)

    def test_with_our_dropout_masks_in_the_reference_it_is_too(self):
        self.compare(SMALL, windows=3, length=SMALL.context, dropout=DROPOUT)
        self.compare(SMALL, windows=2, length=37, dropout=DROPOUT)
        self.compare(LECTURE, windows=2, length=LECTURE.context, dropout=DROPOUT)

    def test_with_label_smoothing_it_is_too(self):
        self.compare(SMALL, windows=3, length=SMALL.context, label_smoothing=0.1)
        self.compare(SMALL, windows=3, length=37, dropout=DROPOUT, label_smoothing=0.5)

    def test_with_every_switch_of_the_model_it_is_too(self):
        for switches in SWITCHES:
            self.compare(SMALL, windows=3, length=SMALL.context, **switches)
            self.compare(SMALL, windows=2, length=37, dropout=DROPOUT, **switches)
        self.compare(LECTURE, windows=2, length=LECTURE.context, dropout=DROPOUT, **SWITCHES[-1])

    def test_every_place_of_dropout_counts(self):
        """The comparisons above would notice a place, or a layer, whose masks are not applied."""
        weights = some_weights(SMALL)
        ids = some_ids(SMALL, 2, SMALL.context)
        masks = self.program.masks(SMALL.model(dropout=DROPOUT, embedding_dropout=True), 2, **PLACE)
        places = {f"{layer}.{place}" for layer in range(SMALL.layers) for place in PLACES}
        self.assertEqual(set(masks), places | {"embedding"})
        wanted = reference_pass(SMALL, weights, ids, masks)
        for name, mask in masks.items():
            without = reference_pass(SMALL, weights, ids, masks | {name: torch.ones_like(mask)})
            self.assertGreater((without["logits"] - wanted["logits"]).abs().max(), 1e-2, name)


if __name__ == "__main__":
    unittest.main()
