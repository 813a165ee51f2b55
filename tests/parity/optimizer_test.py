"""AdamW, SGD and clipping are PyTorch's: from the same weights and gradients the same weights after one and five steps."""

import itertools
import unittest

import torch

from support import SMALL, SWITCHES, ParityProgram, some_weights

MOST = 1e-6
RATES = (1e-2, 3e-3, 1e-2, 2e-2, 1e-3)
ADAMW = {"name": "adamw", "betas": [0.9, 0.999], "epsilon": 1e-8, "weight_decay": 0.01}
OTHER_ADAMW = {"name": "adamw", "betas": [0.8, 0.95], "epsilon": 1e-3, "weight_decay": 0.3}
SGD = {"name": "sgd", "momentum": 0.0, "weight_decay": 0.0}
OTHER_SGD = {"name": "sgd", "momentum": 0.9, "weight_decay": 0.3}


def groups(model, settings):
    """Parameters by whether they decay."""
    parameters = list(model.parameters())
    if settings["decay"] == "all":
        return [{"params": parameters}]
    return [{"params": [p for p in parameters if p.dim() == 2]},
            {"params": [p for p in parameters if p.dim() != 2], "weight_decay": 0.0}]


def reference_optimizer(model, settings):
    parts, decay = groups(model, settings), settings["weight_decay"]
    if settings["name"] == "sgd":
        return torch.optim.SGD(parts, lr=1.0, momentum=settings["momentum"], weight_decay=decay)
    return torch.optim.AdamW(parts, betas=settings["betas"], eps=settings["epsilon"], weight_decay=decay)


def reference_steps(weights, gradients, settings, switches):
    """Weights after a step of PyTorch's optimizer for each of the gradients, in double precision."""
    model = SMALL.reference(**switches).double()
    model.load_state_dict(weights)
    optimizer = reference_optimizer(model, settings)
    for gradient, rate in zip(gradients, RATES):
        for name, parameter in model.named_parameters():
            parameter.grad = gradient[name].double()
        if settings["clip"]:
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip"])
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


class Optimizer(unittest.TestCase):
    def test_steps_are_pytorchs(self):
        self.compare(itertools.product((ADAMW, OTHER_ADAMW, SGD, OTHER_SGD), ("all", "matrices"), (0.0, 1.0), (1, 5)))

    def test_so_they_are_with_every_switch_of_the_model(self):
        """A tied matrix is one parameter, which decays with the matrices."""
        for switches in SWITCHES:
            self.compare(itertools.product((OTHER_ADAMW, OTHER_SGD), ("all", "matrices"), (1.0,), (5,)), **switches)

    def compare(self, cases, **switches):
        weights = some_weights(SMALL, **switches)
        gradients = [some_weights(SMALL, seed, **switches) for seed in range(10, 15)]  # of norms far above 1
        with ParityProgram() as program:
            start = program.file("weights.safetensors", weights)
            files = [program.file(f"gradient{i}.safetensors", gradient) for i, gradient in enumerate(gradients)]
            for settings, decay, clip, steps in cases:
                settings = settings | {"decay": decay, "clip": clip}
                with self.subTest(settings=settings, steps=steps, switches=switches):
                    wanted = reference_steps(weights, gradients[:steps], settings, switches)
                    got = program.tensors("optimizer", model=SMALL.model(**switches), vocabulary=SMALL.vocabulary,
                                          weights=start, gradients=files[:steps], learning_rates=RATES[:steps],
                                          optimizer=settings)
                    self.assertEqual(got.keys(), wanted.keys())
                    for name, tensor in wanted.items():
                        self.assertLessEqual((got[name].double() - tensor).abs().max().item(), MOST, name)


if __name__ == "__main__":
    unittest.main()
