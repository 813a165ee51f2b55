#!/usr/bin/env python3
"""Texts of any script go through training, a stop and sampling without a changed byte.

Takes the program and text files besides the one that is made here: emoji with joiners, combining marks, both kinds of
line ends, NUL, right-to-left, private use.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, FILES = Path(sys.argv[1]).resolve(), [Path(name).resolve() for name in sys.argv[2:]]
MIXED = "".join(f"e\u0301 {n} \U0001F469\u200D\U0001F4BB\r\n\u05D0\u05D1 {n * 37 % 101}\t\0\uE000\uFFFD\u6625\n"
                for n in range(200))
SETTINGS = {"model": {"layers": 1, "heads": 2, "width": 16, "context": 16}, "train": {"batch": 4, "steps": 6},
            "run": {"threads": 1}}


class Texts(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "t.json").write_text(json.dumps(SETTINGS))
        (self.folder / "mixed.txt").write_bytes(MIXED.encode())

    def run_program(self, *words):
        result = subprocess.run([PROGRAM, *words, "--quiet"], cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout

    def weights(self, run):
        return (self.folder / run / "checkpoints/step-00000006/model.safetensors").read_bytes()

    def test_train_stop_resume_and_sample(self):
        for path in [self.folder / "mixed.txt", *FILES]:
            with self.subTest(path.name):
                text = path.read_bytes().decode()
                train = ["train", "--config", "t.json", "--data", path, "--out"]
                straight, halves = f"straight-{path.stem}", f"halves-{path.stem}"
                self.run_program(*train, straight)
                self.run_program(*train, halves, "--set", "train.steps=3", "--set", "data.cache=cache")
                self.run_program("train", "--resume", halves, "--set", "train.steps=6")
                self.assertEqual(self.weights(straight), self.weights(halves))
                sampled = self.run_program("sample", "--run", straight, "--length", "2000", "--temperature", "5").decode()
                self.assertLessEqual(set(sampled.removesuffix("\n")), set(text))

    def test_every_character_of_the_text_can_be_scored(self):
        for path in [self.folder / "mixed.txt", *FILES]:
            with self.subTest(path.name):
                run = f"run-{path.stem}"
                self.run_program("train", "--config", "t.json", "--data", path, "--out", run, "--set", "train.steps=1")
                self.run_program("eval", "--run", run, "--data", path, "--mode", "sliding", "--stride", "16", "--per-char",
                                 "chars.jsonl", "--json")
                lines = (self.folder / "chars.jsonl").read_text().splitlines()
                text = path.read_bytes().decode()
                self.assertEqual("".join(json.loads(line)["char"] for line in lines), text[1:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
