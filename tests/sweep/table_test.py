#!/usr/bin/env python3
"""A sweep, and its table computed once more from the run folders alone.

Environment: CHARGPT, the program.
"""

import csv
import io
import json
import math
import os
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

CHARGPT = os.environ["CHARGPT"]
# Student's t, two-sided 95 %, two degrees of freedom: from a printed table.
T_OF_THREE = 4.3026527
GRID = {
    "grid": {"optimizer.learning_rate": [0.001, 0.01], "model.width": [8, 16]},
    "random": {"count": 1, "model.dropout": {"uniform": [0.1, 0.3]}},
    "seeds": 3,
}
BASE = {
    "model": {"layers": 1, "heads": 2, "width": 8, "context": 16},
    "train": {"steps": 30, "batch": 4, "eval_every": 10},
    "run": {"stop_signals": "TERM"},
}


def run(folder, *words):
    result = subprocess.run([CHARGPT, *words], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{words}: exit code {result.returncode}: {result.stderr}")
    return result.stdout


def records(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def result_of(folder):
    """What the table says of a run, from its own files."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    evaluations = [r for r in records(folder) if r["event"] == "evaluation"]
    steps = [r for r in records(folder) if r["event"] == "step"]
    best = min(evaluations, key=lambda r: r["nats_per_char"])
    seconds = sum(r["seconds"] for r in steps)
    characters = len(steps) * config["train"]["batch"] * config["model"]["context"]
    return {
        "final_loss": evaluations[-1]["nats_per_char"],
        "best_loss": best["nats_per_char"],
        "best_step": best["step"],
        "bits_per_char": best["nats_per_char"] / math.log(2),
        "step": steps[-1]["step"],
        "seconds": seconds,
        "chars_per_second": characters / seconds,
        "optimizer.learning_rate": config["optimizer"]["learning_rate"],
        "model.width": config["model"]["width"],
        "model.dropout": config["model"]["dropout"],
        "run.seed": config["run"]["seed"],
    }


class SweepTable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "d.txt").write_text("".join(f"the cat sat on mat {i * 37 % 101}\n" for i in range(600)))
        (cls.folder / "grid.json").write_text(json.dumps(GRID))
        (cls.folder / "base.json").write_text(json.dumps(BASE))
        run(cls.folder, "sweep", "--config", "base.json", "--grid", "grid.json", "--data", "d.txt", "--out", "s")
        cls.rows = json.loads(run(cls.folder, "sweep", "table", "s", "--json"))["rows"]

    def close(self, got, expected, name):
        self.assertTrue(math.isclose(got, expected, rel_tol=1e-9), f"{name}: got {got}, expected {expected}")

    def test_each_row_is_what_the_run_folder_holds(self):
        self.assertEqual(len(self.rows), 15)
        folders = {str(path.parent.relative_to(self.folder)) for path in self.folder.glob("s/*/config.json")}
        self.assertEqual({row["run"] for row in self.rows}, folders)
        for row in self.rows:
            self.assertEqual(row["state"], "finished")
            for name, value in result_of(self.folder / row["run"]).items():
                self.close(row[name], value, name)
            inspected = json.loads(run(self.folder, "inspect", row["run"], "--json"))
            self.assertEqual(row["parameters"], inspected["parameters"])

    def test_groups_are_statistics_over_the_seeds(self):
        groups = json.loads(run(self.folder, "sweep", "table", "s", "--json", "--group"))["rows"]
        self.assertEqual(len(groups), 5)
        keys = ["optimizer.learning_rate", "model.width", "model.dropout"]
        for group in groups:
            members = [row for row in self.rows if all(row[key] == group[key] for key in keys)]
            self.assertEqual(group["n"], 3)
            self.assertEqual(sorted(row["run.seed"] for row in members), [1, 2, 3])
            for name in ("final_loss", "best_loss"):
                values = [row[name] for row in members]
                mean, deviation = statistics.mean(values), statistics.stdev(values)
                self.close(group[f"{name}_mean"], mean, name)
                self.assertAlmostEqual(group[f"{name}_sd"], deviation, 9)
                half = T_OF_THREE * deviation / math.sqrt(3)
                self.assertAlmostEqual(group[f"{name}_low"], mean - half, 7)
                self.assertAlmostEqual(group[f"{name}_high"], mean + half, 7)

    def test_all_formats_hold_the_same(self):
        lines = run(self.folder, "sweep", "table", "s", "--format", "jsonl").splitlines()
        self.assertEqual([json.loads(line) for line in lines], self.rows)
        table = list(csv.DictReader(io.StringIO(run(self.folder, "sweep", "table", "s", "--format", "csv"))))
        self.assertEqual([row["run"] for row in table], [row["run"] for row in self.rows])
        self.assertEqual([float(row["best_loss"]) for row in table], [row["best_loss"] for row in self.rows])
        losses = [row["best_loss"] for row in self.rows]
        self.assertEqual(losses, sorted(losses))
        markdown = run(self.folder, "sweep", "table", "s", "--format", "markdown").splitlines()
        self.assertEqual(len(markdown), 2 + len(self.rows))


if __name__ == "__main__":
    unittest.main()
