"""What the parity tests share: sizes, weights, the reference's results, and chargpt's through the parity program."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

try:
    import safetensors.torch
    import torch
    from torch.nn import functional

    from char_gpt import CharGPT
except ImportError as error:
    sys.exit(f"{sys.executable} lacks what the parity tests compare with ({error}): ./dev test installs it")

torch.set_num_threads(1)


@dataclass(frozen=True)
class Sizes:
    layers: int
    heads: int
    width: int
    context: int
    vocabulary: int

    def model(self, **options):
        """The `model` section of a config; the options are its keys, such as those in SWITCHES."""
        return {name: value for name, value in asdict(self).items() if name != "vocabulary"} | options

    def reference(self, **options):
        return CharGPT(self.vocabulary, self.layers, self.heads, self.width, self.context, **options)


LECTURE = Sizes(layers=12, heads=16, width=128, context=64, vocabulary=98)
# What the model section can have otherwise than the lecture, in the words of both sides.
SWITCHES = ({"tied_head": True}, {"bias": False}, {"embedding_dropout": True}, {"initialization": "gpt2"},
            {"tied_head": True, "bias": False, "embedding_dropout": True, "initialization": "gpt2"})
# Neither the head size nor the context is a multiple of a vector; more columns of attention than one mask group has.
SMALL = Sizes(layers=2, heads=3, width=33, context=70, vocabulary=13)


class ParityProgram:
    """chargpt's own code, one request at a time. A context manager; its folder is for files of the requests."""

    def __init__(self, command=None):
        self.command = command or os.environ["PARITY_PROGRAM"]

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}  # ctest runs as many programs at once as there are cores
        self._process = subprocess.Popen([self.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         env=one_thread)
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def ask(self, op, **request):
        print(json.dumps({"op": op} | request), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def tensors(self, op, **request):
        out = self.folder / "out.safetensors"
        self.ask(op, out=str(out), **request)
        return safetensors.torch.load(out.read_bytes())

    def file(self, name, tensors):
        """Saves tensors as the real package does; returns the path."""
        path = str(self.folder / name)
        safetensors.torch.save_file(tensors, path)
        return path

    def masks(self, model, windows, length=None, **place):
        """Multipliers by "layer.place", and "embedding" if the model drops there; `place`: seed, step, first_window."""
        return self.tensors("masks", model=model, windows=windows, length=length or model["context"], **place)


def some_weights(sizes, seed=1, **options):
    """A state dict of the size that PyTorch draws, in which no tensor is trivial, not even a bias or a LayerNorm. A
    tied matrix stands there twice, and not under one address, which the safetensors package would not save."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, value in sizes.reference(**options).state_dict().items():
        scale = 0.2 if value.dim() == 1 else 1.0 if "emb" in name else 0.58 / value.shape[-1] ** 0.5
        centre = 1.0 if value.dim() == 1 and name.endswith("weight") else 0.0  # of a LayerNorm
        state[name] = centre + scale * torch.randn(value.shape, generator=generator)
    if options.get("tied_head"):
        state["lm.weight"] = state["token_emb.weight"].clone()
    return state


def some_ids(sizes, windows, length, seed=2):
    """(windows, length + 1): what goes in, and one position on what should come out."""
    return torch.randint(sizes.vocabulary, (windows, length + 1), generator=torch.Generator().manual_seed(seed))


def give_masks(model, masks):
    """Has the reference drop what the masks say."""
    model.dropout.multipliers = masks.get("embedding")
    for i, block in enumerate(model.blocks):
        for h, head in enumerate(block.mha.heads):
            head.dropout.multipliers = masks[f"{i}.attention_weights"][:, h]
        block.mha.dropout.multipliers = masks[f"{i}.projection"]
        block.ff.dropout.multipliers = masks[f"{i}.feed_forward"]


def loss_of(model, ids, label_smoothing=0.0):
    """Logits of all positions but the last, and their mean loss."""
    logits = model(ids[:, :-1])
    return logits, functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), label_smoothing=label_smoothing)


def reference_pass(sizes, weights, ids, masks=None, label_smoothing=0.0, **options):
    """Logits, loss and gradients of the reference in double precision, named as the parity program names them."""
    model = sizes.reference(**options).double()
    model.load_state_dict(weights)
    if masks:
        give_masks(model, {name: mask.double() for name, mask in masks.items()})
    logits, loss = loss_of(model, ids, label_smoothing)
    loss.backward()
    gradients = {f"gradient.{name}": parameter.grad for name, parameter in model.named_parameters()}
    return {"logits": logits.detach(), "loss": loss.detach()} | gradients


def largest_difference(got, wanted):
    """Over all tensors, of the difference relative to the tensor's largest value: (difference, tensor's name).

    To a tensor that is zero, as the queries' gradient for one position is, the difference counts as it stands.
    """
    if got.keys() != wanted.keys():
        raise AssertionError(f"tensors in one alone: {sorted(got.keys() ^ wanted.keys())}")
    return max(((got[name].double() - tensor).abs().max().item() / (tensor.abs().max().item() or 1.0), name)
               for name, tensor in wanted.items())
