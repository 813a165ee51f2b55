"""Weights go to Python and come back, with the real safetensors package on the other side."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import safetensors
import torch
from safetensors.torch import load_file, load_model, save_file, save_model

from support import SWITCHES, ParityProgram, Sizes, largest_difference, loss_of, some_ids, some_weights

TEXT = "the cat sat on the mat\n" * 40
CHARACTERS = sorted(set(TEXT))
SIZES = Sizes(layers=2, heads=2, width=16, context=8, vocabulary=len(CHARACTERS))
SEED = 5
UNUSABLE = 78
TIED = ("--set", "model.tied_head=true")
ROWS = ("token_emb.weight", "lm.weight", "lm.bias")  # one row for each character


def seeded_weights():
    torch.manual_seed(SEED)
    return SIZES.reference().state_dict()


class Exchange(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "data.txt").write_text(TEXT)
        config = {"data": {"path": "data.txt", "val_fraction": 0.0}, "model": SIZES.model(),
                  "train": {"steps": 2, "batch": 2, "keep": 3}, "run": {"seed": SEED, "threads": 1}}
        (self.folder / "config.json").write_text(json.dumps(config))

    def chargpt(self, *words):
        command = [os.environ["PARITY_CHARGPT"], *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def train(self, *words, code=0):
        result = self.chargpt("train", "--config", "config.json", "--out", "run", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def model_file(self, step):
        return self.folder / f"run/checkpoints/step-{step:08}/model.safetensors"

    def save(self, state, **metadata):
        save_file(state, self.folder / "python.safetensors", metadata or None)
        return "python.safetensors"

    def assert_same(self, got, wanted):
        self.assertEqual(got.keys(), wanted.keys())
        for name, tensor in wanted.items():
            self.assertTrue(torch.equal(got[name], tensor), name)

    def assert_refused(self, state, *parts, words=()):
        result = self.train("--init", self.save(state), *words, code=UNUSABLE)
        for part in ("python.safetensors", *parts):
            self.assertIn(part, result.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_a_trained_model_opens_in_python_and_computes_the_same(self):
        self.train()
        state = load_file(self.model_file(2))
        model = SIZES.reference()
        model.load_state_dict(state, strict=True)
        ids = some_ids(SIZES, 3, SIZES.context)
        with ParityProgram() as program:
            got = program.tensors("pass", model=SIZES.model(), vocabulary=SIZES.vocabulary, precision="float",
                                  weights=str(self.model_file(2)), ids=ids.tolist(), seed=0, step=0,
                                  first_window=0)
        logits, loss = loss_of(model.double(), ids)
        wanted = {"logits": logits.detach(), "loss": loss.detach()}
        self.assertLessEqual(largest_difference({name: got[name] for name in wanted}, wanted), (1e-5, ""))

    def test_a_trained_model_tells_python_its_characters(self):
        self.train()
        with safetensors.safe_open(self.model_file(2), framework="pt") as file:
            self.assertEqual(json.loads(file.metadata()["vocabulary"]), CHARACTERS)

    def test_a_state_dict_of_python_starts_a_run_that_samples(self):
        state = some_weights(SIZES)
        result = self.train("--init", self.save(state))
        first, second = result.stderr.splitlines()[:2]
        self.assertIn("starting run at step 0 of 2 with the weights of python.safetensors", first)
        self.assertIn("could not be verified", second)
        self.assert_same(load_file(self.model_file(0)), state)
        self.assertFalse(torch.equal(load_file(self.model_file(2))["lm.weight"], state["lm.weight"]))
        sample = self.chargpt("sample", "--run", "run", "--prompt", "the", "--length", "20")
        self.assertEqual(sample.returncode, 0, sample.stderr)
        self.assertGreaterEqual(len(sample.stdout.strip("\n")), 3)

    def test_tril_buffers_are_accepted_if_they_are_what_the_model_masks_with(self):
        state = some_weights(SIZES)
        tril = torch.tril(torch.ones(SIZES.context, SIZES.context))
        names = [f"blocks.{i}.mha.heads.{h}.tril" for i in range(SIZES.layers) for h in range(SIZES.heads)]
        self.train("--init", self.save(state | {name: tril.clone() for name in names}))
        self.assert_same(load_file(self.model_file(0)), state)

    def test_other_tril_buffers_are_refused(self):
        state = some_weights(SIZES)
        name = "blocks.1.mha.heads.0.tril"
        sees_the_next, half = torch.ones(2, SIZES.context, SIZES.context).tril().unbind()
        sees_the_next[3, 4] = 1.0
        half[5, 2] = 0.5
        for tril in (sees_the_next, half, torch.ones(4, 4).tril(), torch.ones(8, 8, dtype=torch.double).tril()):
            self.assert_refused(state | {name: tril.contiguous().clone()}, name)
        self.assert_refused(state | {"blocks.2.mha.heads.0.tril": torch.ones(8, 8).tril()}, "blocks.2.mha.heads.0.tril")

    def test_a_file_that_does_not_fit_is_refused_naming_the_tensor(self):
        state = some_weights(SIZES)
        without = {name: tensor for name, tensor in state.items() if name != "blocks.1.ff.ln2.bias"}
        self.assert_refused(without, "blocks.1.ff.ln2.bias", "missing")
        self.assert_refused(state | {"blocks.2.l1.weight": torch.ones(16)}, "blocks.2.l1.weight", "layers 2")
        self.assert_refused(state | {"pos_emb.weight": torch.ones(9, 16)}, "pos_emb.weight", "context 8")
        self.assert_refused(state | {"token_emb.weight": torch.ones(12, 16)}, "token_emb.weight", "vocabulary 11")
        self.assert_refused(state | {"l.weight": torch.ones(16, dtype=torch.half)}, "l.weight", "F16")
        self.assert_refused(state | {"l.bias": torch.full((16,), torch.nan)}, "l.bias", "not finite")

    def test_with_every_switch_of_the_model_it_opens_in_python_and_computes_the_same(self):
        for switches in SWITCHES:
            words = [word for name, value in switches.items()
                     for word in ("--set", f"model.{name}={value if name == 'initialization' else json.dumps(value)}")]
            self.train("--overwrite", *words)
            model = SIZES.reference(**switches)
            self.assertEqual(load_model(model, self.model_file(2), strict=True), (set(), []))
            ids = some_ids(SIZES, 3, SIZES.context)
            with ParityProgram() as program:
                got = program.tensors("pass", model=SIZES.model(**switches), vocabulary=SIZES.vocabulary,
                                      precision="float", weights=str(self.model_file(2)), ids=ids.tolist(), seed=0,
                                      step=0, first_window=0)
            wanted = {"logits": loss_of(model.double(), ids)[0].detach()}
            self.assertLessEqual(largest_difference({"logits": got["logits"]}, wanted), (1e-5, ""), switches)

    def test_a_tied_models_file_holds_the_matrix_once_and_says_so(self):
        self.train(*TIED)
        self.assertEqual(some_weights(SIZES).keys() - load_file(self.model_file(2)).keys(), {"lm.weight"})
        with safetensors.safe_open(self.model_file(2), framework="pt") as file:
            self.assertIs(json.loads(file.metadata()["config"])["tied_head"], True)

    def test_a_tied_model_of_python_starts_a_tied_run(self):
        """As the package saves a model (under the head's name alone), under the embedding's name, and twice."""
        twice = some_weights(SIZES, tied_head=True)
        once = {name: tensor for name, tensor in twice.items() if name != "lm.weight"}
        model = SIZES.reference(tied_head=True)
        model.load_state_dict(twice)
        save_model(model, self.folder / "saved.safetensors")
        self.assertNotIn("token_emb.weight", load_file(self.folder / "saved.safetensors"))
        for file in ("saved.safetensors", self.save(once), self.save(twice)):
            self.train("--overwrite", "--init", file, *TIED)
            self.assert_same(load_file(self.model_file(0)), once)

    def test_a_contradicting_head_is_refused_naming_both(self):
        self.assert_refused(some_weights(SIZES), "token_emb.weight", "lm.weight", "model.tied_head", words=TIED)

    def test_a_tied_model_does_not_start_an_untied_run(self):
        for missing in ("lm.weight", "token_emb.weight"):
            state = some_weights(SIZES, tied_head=True)
            del state[missing]
            self.assert_refused(state, f"tensor {missing} is missing", "tied", "model.tied_head")

    def test_nor_does_our_own_file_tie_or_untie_a_head(self):
        for own, other in ((TIED, ()), ((), TIED)):
            self.train("--overwrite", *own)
            shutil.copy(self.model_file(2), self.folder / "own.safetensors")
            result = self.train("--overwrite", "--init", "own.safetensors", *other, code=UNUSABLE)
            self.assertIn("lm.weight", result.stderr)
            self.assertIn("tied_head", result.stderr)
            self.train("--overwrite", "--init", "own.safetensors", *own)

    def test_biases_that_one_side_lacks_are_refused_by_name(self):
        self.assert_refused(some_weights(SIZES, bias=False), "bias is missing", "bias true")
        self.assert_refused(some_weights(SIZES), "blocks.0.", ".bias", "does not belong", "bias false",
                            words=("--set", "model.bias=false"))

    def test_rows_of_another_vocabulary_are_matched_by_character(self):
        theirs = ["\n", "a", "c", "h", "n", "q", "s", "t", "z"]  # in another place each, and two that we lack
        sizes = Sizes(SIZES.layers, SIZES.heads, SIZES.width, SIZES.context, len(theirs))
        state = some_weights(sizes)
        result = self.train("--init", self.save(state, vocabulary=json.dumps(theirs)))
        self.assertIn("7 are the file's, 4 new characters start fresh, 2 of the file's are not in the data",
                      result.stderr)
        wanted = seeded_weights()
        for name, tensor in state.items():
            if name not in ROWS:
                wanted[name] = tensor
                continue
            for character in set(theirs) & set(CHARACTERS):
                wanted[name][CHARACTERS.index(character)] = tensor[theirs.index(character)]
        self.assert_same(load_file(self.model_file(0)), wanted)

    def test_a_run_stopped_before_its_first_save_does_not_resume_with_other_weights(self):
        state = some_weights(SIZES)
        self.train("--init", self.save(state))
        straight = load_file(self.model_file(2))
        shutil.rmtree(self.model_file(2).parent)
        result = self.chargpt("train", "--resume", "run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("resuming run at step 0", result.stderr)
        self.assert_same(load_file(self.model_file(2)), straight)


if __name__ == "__main__":
    unittest.main()
