"""The same seed gives the weights that PyTorch gives, bit for bit."""

import unittest

import torch

from support import LECTURE, SWITCHES, ParityProgram, Sizes

OTHERS = (Sizes(layers=1, heads=1, width=8, context=3, vocabulary=5),
          Sizes(layers=4, heads=4, width=128, context=64, vocabulary=65))


class InitialWeights(unittest.TestCase):
    def test_are_those_of_pytorch_for_the_same_seed(self):
        with ParityProgram() as program:
            self.compare(program, LECTURE, 12046)
            self.compare(program, LECTURE, 1)
            for sizes in OTHERS:
                self.compare(program, sizes, 12046)

    def test_so_they_are_with_every_switch_of_the_model(self):
        with ParityProgram() as program:
            for sizes in (LECTURE, *OTHERS):
                for switches in SWITCHES:
                    self.compare(program, sizes, 12046, **switches)

    def compare(self, program, sizes, seed, **options):
        with self.subTest(sizes=sizes, seed=seed, options=options):
            torch.manual_seed(seed)
            wanted = dict(sizes.reference(**options).named_parameters())
            got = program.tensors("weights", model=sizes.model(**options), vocabulary=sizes.vocabulary, seed=seed)
            self.assertEqual(got.keys(), wanted.keys())
            for name, tensor in wanted.items():
                self.assertTrue(torch.equal(got[name], tensor), name)

    def test_the_lectures_model_has_its_number_of_parameters(self):
        self.assertEqual(sum(tensor.numel() for tensor in LECTURE.reference().parameters()), 2_408_290)


if __name__ == "__main__":
    unittest.main()
