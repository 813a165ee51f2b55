#!/usr/bin/env python3
"""A sweep of 200 small runs on two processors, killed and started again at random, ends with 200 complete results, none
done twice; and the share of time that a sweep which nothing disturbs spends outside of training steps, which is printed.

Environment: CHARGPT, the program; SOAK_KILLS, how many kills (default 40).
"""

import json
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import table_test

CHARGPT = os.environ["CHARGPT"]
KILLS = int(os.environ.get("SOAK_KILLS", "40"))
STEPS = 400
GRID = {"grid": {"optimizer.learning_rate": [0.001, 0.003, 0.01, 0.03, 0.1], "model.width": [32, 48]}, "seeds": 20}
BASE = {
    "model": {"layers": 2, "heads": 4, "width": 32, "context": 32},
    "train": {"steps": STEPS, "batch": 12, "eval_every": 200, "save_every": 100},
}


class Soak(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="chargpt-soak-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "d.txt").write_text("".join(f"the cat sat on mat {i * 37 % 101}\n" for i in range(3000)))
        (self.folder / "grid.json").write_text(json.dumps(GRID))
        (self.folder / "base.json").write_text(json.dumps(BASE))

    def start(self, out):
        words = ["sweep", "--config", "base.json", "--grid", "grid.json", "--data", "d.txt", "--out", out,
                 "--workers", "2", "--quiet"]
        return subprocess.Popen([CHARGPT, *words], cwd=self.folder)

    def workers(self, sweep):
        children = Path(f"/proc/{sweep.pid}/task/{sweep.pid}/children")
        return [int(pid) for pid in children.read_text().split()] if children.exists() else []

    def finished(self, sweep):
        """What the finished runs have said so far, by run: none says more when it is not begun again."""
        outcomes = (self.folder / sweep / "outcomes").glob("[!.]*.json")
        return {path.stem: (self.folder / sweep / path.stem / "log.txt").read_text() for path in outcomes
                if json.loads(path.read_text())["exit_code"] == 0}

    def test_two_hundred_runs_are_done_once_each_whatever_is_killed(self):
        chance = random.Random(12046)
        said = {}
        sweep, started = self.start("s"), time.monotonic()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.5, 10))
            if sweep.poll() is not None:
                break
            said |= self.finished("s")
            workers = self.workers(sweep)
            if chance.random() < 0.5 and workers:
                os.kill(chance.choice(workers), signal.SIGKILL)
            else:
                sweep.kill()
                sweep.wait()
                sweep = self.start("s")
        self.assertEqual(sweep.wait(), 0)
        print(f"disturbed: {time.monotonic() - started:.0f} s")
        self.assertEqual({run: self.finished("s")[run] for run in said}, said)
        rows = json.loads(table_test.run(self.folder, "sweep", "table", "s", "--json"))["rows"]
        self.assertEqual(len(rows), 200)
        for row in rows:
            folder = self.folder / row["run"]
            self.assertEqual(row["state"], "finished")
            steps = [r["step"] for r in table_test.records(folder) if r["event"] == "step"]
            self.assertEqual(steps, list(range(1, STEPS + 1)))
            result = table_test.result_of(folder)
            for name in row.keys() & result.keys():
                self.assertAlmostEqual(row[name], result[name], 9, name)

    def test_what_a_sweep_costs_beside_its_steps(self):
        started = time.monotonic()
        self.assertEqual(self.start("s").wait(), 0)
        wall = time.monotonic() - started
        rows = json.loads(table_test.run(self.folder, "sweep", "table", "s", "--json"))["rows"]
        steps = sum(row["seconds"] for row in rows)
        print(f"undisturbed: {wall:.1f} s on two processors, {steps:.1f} s in steps, {1 - steps / 2 / wall:.1%} beside them")


if __name__ == "__main__":
    unittest.main()
