#!/usr/bin/env python3
"""The batch scripts in examples/batch do what they say, also when they are started again; the sweep in examples/sweep
gives the table that docs/sweeps.md shows, but for its numbers.

Takes texts for the sweep besides the one that is made here. Environment: CHARGPT, the program.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).parents[2]
CHARGPT = os.environ.get("CHARGPT", "chargpt")
TEXTS = [Path(name).resolve() for name in sys.argv[1:]]
SCRIPTS = [SOURCE / "examples" / "batch" / name for name in ("learning_rates.sh", "learning_rates.py")]


class Examples(unittest.TestCase):
    def run_script(self, script, folder, *rates, out="out", code=0):
        Path(folder, "d.txt").write_text("".join(f"the cat sat on mat {i * 37 % 101}\n" for i in range(600)))
        words = [script, SOURCE / "configs" / "smoke.json", "d.txt", out, *(rates or ("1e-3", "1e-2", "1e30"))]
        result = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout

    def test_scripts_say_when_all_runs_diverge(self):
        for script in SCRIPTS:
            with self.subTest(script=script.name), tempfile.TemporaryDirectory() as folder:
                said = self.run_script(script, folder, "1e30", out="new/folder", code=76)
                self.assertEqual(said.splitlines(), ["1e30 diverged", "all diverged"])

    def test_scripts_find_the_best_and_repeat_nothing(self):
        for script in SCRIPTS:
            with self.subTest(script=script.name), tempfile.TemporaryDirectory() as folder:
                first = self.run_script(script, folder)
                self.assertIn("1e30 diverged", first)
                losses = dict(line.split()[:2] for line in first.splitlines()[:2])
                best = min(losses, key=lambda rate: float(losses[rate]))
                self.assertRegex(first, rf"best: (out/rate-)?{best}")
                weights = Path(folder, "out/rate-1e-2/checkpoints/step-00000050/model.safetensors")
                before = weights.stat().st_mtime_ns
                self.assertEqual(self.run_script(script, folder), first)
                self.assertEqual(weights.stat().st_mtime_ns, before)

    def test_the_sweep_gives_the_table_of_its_page(self):
        page = (SOURCE / "docs" / "sweeps.md").read_text().splitlines()
        shown = next(i for i, line in enumerate(page) if line.startswith("| model.width |"))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "d.txt").write_text("".join(f"the cat sat on mat {i * 37 % 101}\n" for i in range(600)))
            for path in ["d.txt", *TEXTS]:
                words = ["sweep", "--config", SOURCE / "examples/sweep/base.json", "--grid", SOURCE / "examples/sweep/grid.json",
                         "--data", path, "--out", f"of-{Path(path).stem}", "--quiet"]
                short = ["train.steps=3", "train.eval_every=3", "schedule.warmup=1", "eval.mode=random", "eval.windows=20"]
                subprocess.run([CHARGPT, *words, *(word for key in short for word in ("--set", key))], cwd=folder, check=True)
                table = subprocess.run([CHARGPT, "sweep", "table", f"of-{Path(path).stem}", "--group", "--format", "markdown"],
                                       cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()
                self.assertEqual(table[:2], page[shown:shown + 2])
                rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[2:]]
                known = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page[shown + 2:shown + 8]]
                self.assertEqual(sorted(row[:4] for row in rows), sorted(row[:4] for row in known))
                self.assertEqual({row[4] != "" for row in rows}, {True})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
