#!/usr/bin/env python3
"""Event files read back with the real tensorboard: a run that is stopped twice is one continuous curve."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util
except ImportError as error:
    sys.exit(f"{sys.executable} lacks tensorboard ({error}): ./dev test installs it")

CHARGPT = os.environ["PARITY_CHARGPT"]
SCALARS = {("step", "loss"): "loss/train", ("step", "learning_rate"): "learning_rate",
           ("step", "gradient_norm"): "gradient_norm", ("step", "seconds"): "seconds_per_step",
           ("evaluation", "nats_per_char"): "loss/validation"}


def train(folder, steps, *more):
    subprocess.run([CHARGPT, "train", "--config", "t.json", "--out", "r", "--resume", "auto", "--quiet", "--set",
                    f"train.steps={steps}", *more], cwd=folder, check=True)


def accumulate(folder):
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    return events


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class EventFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "d.txt").write_text("the cat sat on the mat, and ran.\n" * 300)
        config = {"data": {"path": "d.txt"}, "model": {"layers": 1, "width": 16, "heads": 2, "context": 8},
                  "train": {"batch": 2, "eval_every": 5, "sample_every": 10, "save_every": 7},
                  "sample": {"prompt": "the", "length": 20}, "run": {"tensorboard": True, "threads": 1}}
        (self.root / "t.json").write_text(json.dumps(config))

    def records(self):
        return [json.loads(line) for line in (self.root / "r/metrics.jsonl").read_text().splitlines()]

    def check(self, folder):
        """What tensorboard reads is what the metrics hold, each once and in order."""
        events = accumulate(folder)
        for (event, member), name in SCALARS.items():
            wanted = [(r["step"], float32(r[member])) for r in self.records() if r["event"] == event]
            self.assertEqual([(s.step, s.value) for s in events.Scalars(name)], wanted, name)
        times = [s.wall_time for s in events.Scalars("loss/train")]
        self.assertEqual(times, sorted(times))
        texts = [(t.step, tensor_util.make_ndarray(t.tensor_proto).item().decode()) for t in events.Tensors("sample")]
        wanted = [(r["step"], "    " + r["text"].replace("\n", "\n    ")) for r in self.records() if r["event"] == "sample"]
        self.assertEqual(texts, wanted)

    def test_a_run_resumed_twice_is_one_continuous_curve(self):
        for steps in (12, 23, 40):
            train(self.root, steps)
            self.check(self.root / "r/tensorboard")
        sizes = {file.name: file.stat().st_size for file in (self.root / "r/tensorboard").iterdir()}
        self.assertEqual(sorted(sizes), [f"events.out.tfevents.000000000{n}.chargpt" for n in (2, 3)])
        self.assertEqual(min(sizes.values()), 0)

    def test_records_that_a_kill_left_behind_the_checkpoint_are_taken_back(self):
        train(self.root, 12)
        # As if it had been killed at step 12 with step 7 the last that was saved.
        subprocess.run(["rm", "-r", "r/checkpoints/step-00000012"], cwd=self.root, check=True)
        train(self.root, 20)
        self.check(self.root / "r/tensorboard")

    def test_a_torn_last_event_does_no_harm(self):
        train(self.root, 12)
        [file] = (self.root / "r/tensorboard").iterdir()
        file.write_bytes(file.read_bytes()[:-5])
        train(self.root, 20)
        self.check(self.root / "r/tensorboard")

    def test_tensorboard_that_watches_a_run_forgets_what_is_told_again(self):
        train(self.root, 12)
        events = accumulate(self.root / "r/tensorboard")
        self.assertEqual(len(events.Scalars("loss/train")), 12)
        train(self.root, 20)
        events.Reload()
        self.assertEqual([s.step for s in events.Scalars("loss/train")], list(range(1, 21)))

    def test_metrics_are_exported(self):
        train(self.root, 30, "--set", "run.tensorboard=false")
        self.assertFalse((self.root / "r/tensorboard").exists())
        for _ in range(2):
            subprocess.run([CHARGPT, "metrics", "export", "r", "--tensorboard", "out"], cwd=self.root, check=True)
            self.check(self.root / "out")
        file = max((self.root / "out").iterdir())
        self.assertEqual(next(iter(EventFileLoader(str(file)).Load())).file_version, "brain.Event:2")


if __name__ == "__main__":
    unittest.main()
