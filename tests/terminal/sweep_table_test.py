#!/usr/bin/env python3
"""The live table that `chargpt sweep` shows in a real pseudo-terminal.

Environment: CHARGPT, the program.
"""

import json
import os
import re
import signal
import tempfile
import unittest
from pathlib import Path

import pseudo_terminal

CHARGPT = os.environ["CHARGPT"]
CONFIG = {"data": {"path": "d.txt"}, "model": {"layers": 1, "width": 16, "heads": 2, "context": 8},
          "train": {"batch": 2, "steps": 20000, "eval_every": 2000}}
GRID = {"grid": {"model.width": [8, 16]}, "seeds": 2}


class Screen:
    """As much of a terminal as the program uses: lines, the cursor's way up, and the clearing of all below it."""

    def __init__(self):
        self.lines, self.row, self.redraws = [""], 0, 0

    def feed(self, text):
        for token in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|[^\x1b\r\n]+|.", text, re.DOTALL):
            up = re.fullmatch(r"\x1b\[(\d+)A", token)
            if up:
                self.row -= int(up[1])
                assert self.row >= 0, "above the first line"
            elif token == "\x1b[J":
                self.lines = self.lines[:self.row] + [""]
                self.redraws += 1
            elif token == "\n":
                self.row += 1
                self.lines.append("")
            elif token.startswith("\x1b"):
                raise AssertionError(f"an escape code that changes the terminal: {token!r}")
            elif token != "\r":
                self.lines[self.row] += token


class LiveTable(unittest.TestCase):
    def sweep(self, *more, rows=24, columns=100, on_output=None):
        """Exit code and all output of a sweep whose three streams are a terminal."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        (root / "d.txt").write_text("the cat sat on the mat, and ran.\n" * 300)
        (root / "base.json").write_text(json.dumps(CONFIG))
        (root / "grid.json").write_text(json.dumps(GRID))
        words = [CHARGPT, "sweep", "--config", "base.json", "--grid", "grid.json", "--out", "s", "--workers", "2", *more]
        return pseudo_terminal.run(words, root, os.environ | {"TERM": "xterm"}, rows, columns, on_output)

    def test_it_shows_the_runs_in_progress_and_is_taken_away(self):
        code, output = self.sweep()
        self.assertEqual(code, 0, output)
        screen = Screen()
        screen.feed(output)
        self.assertGreater(screen.redraws, 2)
        self.assertRegex(output, r"run +step +loss +best +left")
        self.assertRegex(output, r"width=8,seed=1 +\d+/20000 +\d\.\d{4} +(\d\.\d{4}|-) +\d:\d\d\b")
        self.assertRegex(output, r"[0-3] of 4 runs ended, \d+%, \d:\d\d left")
        left = [line for line in screen.lines if line]
        self.assertEqual(len(left), 6, screen.lines)  # what is to do, four ends, what was done
        self.assertEqual([line[:5] for line in left[1:5]], ["[1/4]", "[2/4]", "[3/4]", "[4/4]"])

    def test_it_is_never_larger_than_the_terminal(self):
        code, output = self.sweep(rows=3, columns=20)
        self.assertEqual(code, 0, output)
        drawn = re.findall(r"\x1b\[(\d+)A", output)
        self.assertTrue(drawn)
        self.assertEqual({int(lines) for lines in drawn}, {2})
        table = [line for line in re.split(r"\r?\n|\x1b\[\d*[AJ]", output) if "runs ended" in line]
        self.assertTrue(all(len(line) < 20 for line in table), table)

    def test_a_stop_takes_it_away(self):
        sent = []

        def stop(pid, _, output):
            if output.count("runs ended") >= 3 and not sent:
                sent.append(os.kill(pid, signal.SIGINT))

        code, output = self.sweep("--set", "train.steps=100000000", on_output=stop)
        self.assertEqual(code, 130)
        screen = Screen()
        screen.feed(output)
        left = [line for line in screen.lines if line]
        self.assertEqual(left[1], "stopping: the runs in progress are being saved")
        self.assertIn("0 of 4 runs finished, 0 failed, 4 stopped", left[2])
        self.assertEqual(len(left), 3, left)

    def test_a_person_may_refuse_it(self):
        code, output = self.sweep("--no-color", "--set", "train.steps=100")
        self.assertEqual(code, 0, output)
        self.assertNotIn("\x1b", output)


if __name__ == "__main__":
    unittest.main()
