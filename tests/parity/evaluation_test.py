"""Every number that eval prints, computed again in double precision with numpy, from the definition of each mode.

A document is a list of ids; all but its first are predicted. T is the context.
"""

import json
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

T, HEADS, SEED, STEPS = 8, 2, 3, 40
END_MARK = "<|e|>"
MEAN, SINGLE = 1e-6, 1e-4  # largest differences
TEXT = "".join(f"the cat's {i * 37 % 101} mats, 春眠 no. {i * 53 % 97}: ö!\n" for i in range(70))
DOCUMENTS = ["".join(f"a{i * j % 7}春" for i in range(j)) for j in (1, 2, 3, 5, 9, 17, 30, 31)]
EVALUATION = 4  # the purpose of random numbers, as chargpt/base/random.hpp numbers them

gelu_cdf = np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Model:
    """The lecture's network on one window at a time."""

    def __init__(self, path):
        self.w = {name: value.astype(np.float64) for name, value in load_file(path).items()}
        with safe_open(path, "np") as file:
            self.symbols = json.loads(file.metadata()["vocabulary"])
            self.layers = json.loads(file.metadata()["config"])["layers"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def head(self, x, name):
        q, k, v = (x @ self.w[f"{name}.{part}.weight"].T for part in ("query", "key", "value"))
        visible = np.tril(np.ones((len(x), len(x)), bool))
        return softmax(np.where(visible, q @ k.T / math.sqrt(q.shape[1]), -np.inf)) @ v

    def probabilities(self, ids):
        """(len(ids), V): of what follows each position."""
        x = self.w["token_emb.weight"][ids] + self.w["pos_emb.weight"][:len(ids)]
        for i in range(self.layers):
            block = f"blocks.{i}"
            y = self.norm(x, block + ".l1")
            y = np.concatenate([self.head(y, f"{block}.mha.heads.{h}") for h in range(HEADS)], axis=-1)
            x = x + self.linear(y, block + ".mha.proj")
            y = self.linear(self.norm(x, block + ".l2"), block + ".ff.ln1")
            x = x + self.linear(y * gelu_cdf(y), block + ".ff.ln2")
        return softmax(self.linear(self.norm(x, "l"), "lm"))

    def score(self, ids, begin, end):
        """For the character ids[end], from ids[begin] on: (document's index, nats, rank, entropy)."""
        p = self.probabilities(ids[begin:end])[-1]
        return end, -math.log(p[ids[end]]), 1 + int((p > p[ids[end]]).sum()), -(p * np.log(p)).sum()


def windows(model, document):
    return [model.score(document, (i - 1) // T * T, i) for i in range(1, len(document))]


def sliding(model, document, stride):
    """Each character from the first window that reaches it; the last one is moved back, not cut short."""
    scores, last = [], len(document) - 1
    for i in range(1, len(document)):
        end = min(T, last)
        while end < i:
            end = min(end + stride, last)
        scores.append(model.score(document, max(0, end - T), i))
    return scores


def philox(counter, key):
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [b >> 32 ^ counter[1] ^ key[0], b & 0xFFFFFFFF, a >> 32 ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def random_windows(documents, count):
    """(document, offset) of each: number i is drawn by (run.seed, step, i) from all windows of T + 1 ids."""
    places = [(d, offset) for d, ids in enumerate(documents) for offset in range(len(ids) - T)]
    for i in range(count):
        low, high, *_ = philox([i, 0, STEPS, EVALUATION], [SEED, 0])
        yield places[(low | high << 32) * len(places) >> 64]


class Evaluation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        lines = "".join(json.dumps({"text": text}) + "\n" for text in DOCUMENTS)
        texts = {"text.txt": TEXT, "documents.jsonl": lines}
        for name, text in texts.items():
            (cls.folder / name).write_text(text)
        cls.models = {name: cls.train(name) for name in texts}

    @classmethod
    def train(cls, data):
        config = {"data": {"path": data, "val_fraction": 0.0},
                  "model": {"layers": 2, "heads": HEADS, "width": 16, "context": T},
                  "train": {"steps": STEPS, "batch": 8}, "optimizer": {"learning_rate": 0.01},
                  "run": {"seed": SEED, "threads": 1}}
        (cls.folder / "config.json").write_text(json.dumps(config))
        cls.chargpt("train", "--config", "config.json", "--out", "runs/" + data)
        return Model(cls.folder / f"runs/{data}/checkpoints/step-{STEPS:08}/model.safetensors")

    @classmethod
    def chargpt(cls, *words):
        command = [os.environ["PARITY_CHARGPT"], *words, "--quiet", "--json"]
        result = subprocess.run(command, cwd=cls.folder, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise AssertionError(f"{words}: {result.returncode}: {result.stderr}")
        return json.loads(result.stdout)

    def eval(self, data, *words):
        """What eval prints, and the lines that it writes about characters."""
        result = self.chargpt("eval", "--run", "runs/" + data, "--checkpoint", "last", "--data", data,
                              "--per-char", "chars.jsonl", *words)
        lines = [json.loads(line) for line in (self.folder / "chars.jsonl").read_text().splitlines()]
        return result, lines

    def documents(self, data):
        """Symbols of each document, and their ids."""
        texts = [[*text, END_MARK] for text in DOCUMENTS] if data.endswith(".jsonl") else [list(TEXT)]
        return texts, [[self.models[data].symbols.index(symbol) for symbol in text] for text in texts]

    def check(self, data, words, scores):
        """`scores`: (document, index in it, nats, rank, entropy) in the order in which eval tells of them."""
        texts, _ = self.documents(data)
        result, lines = self.eval(data, *words)
        self.assertEqual(len(lines), len(scores))
        for line, (document, index, nats, rank, entropy) in zip(lines, scores):
            place = (line["document"], line["offset"], line["char"], line["rank"])
            self.assertEqual(place, (document + 1, index, texts[document][index], rank))
            self.assertAlmostEqual(line["nats"], nats, delta=SINGLE)
            self.assertAlmostEqual(line["entropy"], entropy, delta=SINGLE)
        mean = sum(nats for _, _, nats, _, _ in scores) / len(scores)
        size = sum(1 if texts[d][i] == END_MARK else len(texts[d][i].encode()) for d, i, *_ in scores)
        self.assertEqual((result["characters"], result["bytes"]), (len(scores), size))
        for name, value in {"nats_per_char": mean, "perplexity": math.exp(mean), "bits_per_char": mean / math.log(2),
                            "bits_per_byte": mean / math.log(2) * len(scores) / size}.items():
            self.assertAlmostEqual(result[name], value, delta=MEAN * max(1, value), msg=name)
        return result

    def check_mode(self, words, score):
        for data, model in self.models.items():
            with self.subTest(data=data, words=words):
                _, documents = self.documents(data)
                self.check(data, words, [(d, *one) for d, ids in enumerate(documents) for one in score(model, ids)])

    def test_windows(self):
        self.check_mode(["--mode", "windows"], windows)

    def test_sliding(self):
        for stride in (1, 3, T // 2, T):
            self.check_mode(["--mode", "sliding", "--stride", str(stride)],
                            lambda model, ids, stride=stride: sliding(model, ids, stride))

    def test_random_windows_and_their_standard_error(self):
        count = 50
        for data, model in self.models.items():
            with self.subTest(data=data):
                _, documents = self.documents(data)
                drawn = list(random_windows(documents, count))
                scores = [(d, *model.score(documents[d], offset, offset + i))
                          for d, offset in drawn for i in range(1, T + 1)]
                result = self.check(data, ["--mode", "random", "--windows", str(count)], scores)
                means = np.array([nats for _, _, nats, _, _ in scores]).reshape(count, T).mean(1)
                self.assertAlmostEqual(result["standard_error"], means.std(ddof=1) / math.sqrt(count), delta=MEAN)

    def test_every_training_window(self):
        for data, model in self.models.items():
            with self.subTest(data=data):
                _, documents = self.documents(data)
                scores = [(d, *model.score(ids, offset, offset + i)) for d, ids in enumerate(documents)
                          for offset in range(0, len(ids) - T, 5) for i in range(1, T + 1)]
                self.check(data, ["--mode", "windows", "--stride", "5"], scores)

    def test_the_known_mistakes_of_strided_perplexity_would_be_noticed(self):
        """They change the number by much more than the comparisons above allow."""
        stride, model = 5, self.models["text.txt"]
        ids = self.documents("text.txt")[1][0][:203]
        right = [nats for _, nats, _, _ in sliding(model, ids, stride)]
        blocks = [right[:T]] + [right[i:i + stride] for i in range(T, len(right), stride)]
        starts = range(0, len(ids) - T, stride)
        twice = [model.score(ids, begin, begin + i)[1] for begin in starts for i in range(1, T + 1)]
        shifted = [model.score(ids, max(0, i - 1 - T), i - 1)[1] for i in range(2, len(ids))]
        truth = np.mean(right)
        for name, wrong in {"the short last window weighs like a whole one": np.mean([np.mean(b) for b in blocks]),
                            "the overlap counts twice": np.mean(twice), "off by one": np.mean(shifted)}.items():
            self.assertGreater(abs(wrong - truth), 100 * MEAN, name)


if __name__ == "__main__":
    unittest.main()
