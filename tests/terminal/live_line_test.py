#!/usr/bin/env python3
"""What `chargpt train` shows in a real pseudo-terminal, and where there is none.

Environment: CHARGPT, the program.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import pseudo_terminal

CHARGPT = os.environ["CHARGPT"]
ESCAPE = "\x1b"
CONFIG = {"data": {"path": "d.txt"}, "model": {"layers": 1, "width": 16, "heads": 2, "context": 8},
          "train": {"batch": 2, "steps": 2000}, "run": {"threads": 1}}


class Screen:
    """As much of a terminal as the program uses: lines, a carriage return, and the clearing of a line's rest."""

    def __init__(self, width):
        self.width, self.lines, self.column, self.widest, self.redraws = width, [""], 0, 0, 0

    def feed(self, text):
        for token in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|.", text, re.DOTALL):
            if token == "\r":
                self.column = 0
            elif token == "\n":
                self.lines.append("")
                self.column = 0
            elif token == "\x1b[K":
                self.lines[-1] = self.lines[-1][:self.column]
                self.redraws += 1
            elif token.startswith(ESCAPE):
                raise AssertionError(f"an escape code that changes the terminal: {token!r}")
            else:
                line = self.lines[-1]
                self.lines[-1] = line[:self.column] + token + line[self.column + 1:]
                self.column += 1
                self.widest = max(self.widest, self.column)


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "d.txt").write_text("the cat sat on the mat, and ran.\n" * 300)
        (self.root / "t.json").write_text(json.dumps(CONFIG))
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("NO_COLOR", "CLICOLOR_FORCE")} | {"TERM": "xterm"}

    def words(self, *more):
        return [CHARGPT, "train", "--config", "t.json", "--out", "r", *more]

    def in_terminal(self, *more, width=100, environment=None, on_output=None):
        """Exit code and all output of a training whose three streams are a terminal."""
        return pseudo_terminal.run(self.words(*more), self.root, self.environment | (environment or {}), 24, width,
                                   on_output)

    def test_one_line_is_rewritten_and_taken_away(self):
        for width in (40, 80, 200):
            with self.subTest(width=width):
                code, output = self.in_terminal("--overwrite", width=width)
                self.assertEqual(code, 0, output)
                screen = Screen(width)
                screen.feed(output)
                self.assertGreater(screen.redraws, 2)
                live = [line for line in re.split(r"\r\x1b\[K", output) if line.startswith("step ") and "loss" in line]
                live = [line for line in live if "\n" not in line]
                self.assertTrue(live)
                self.assertLess(max(map(len, live)), width)
                self.assertEqual(all("left" in line for line in live), width > 40)
                self.assertEqual(any("MB" in line and "norm" in line for line in live), width == 200)
                self.assertFalse([line for line in screen.lines if "chars/s" in line and "left" in line])
                told = [line for line in screen.lines if re.match(r"step \d+: validation loss", line)]
                self.assertEqual(len(told), 8)

    def test_a_stop_leaves_the_cursor_on_a_line_of_its_own(self):
        sent = []

        def stop(pid, _, output):
            if output.count("\x1b[K") >= 3 and not sent:
                sent.append(os.kill(pid, signal.SIGINT))

        code, output = self.in_terminal("--set", "train.steps=1000000", on_output=stop)
        screen = Screen(100)
        screen.feed(output)
        self.assertEqual(code, 130)
        self.assertEqual(screen.lines[-1], "")
        self.assertTrue(screen.lines[-2].startswith("to continue:"), screen.lines)

    def test_two_interrupts_leave_it_on_a_line_of_its_own_too(self):
        def took_signals(pid):
            status = Path(f"/proc/{pid}/status").read_text()
            return all(int(pending, 16) == 0 for pending in re.findall(r"(?:Sig|Shd)Pnd:\s*(\w+)", status))

        def stop_twice(pid, terminal, output):
            # A step of many seconds, so that it cannot have stopped by itself in between.
            if "parameters on" not in output or output.count("^C") >= 2:
                return
            while not took_signals(pid):
                continue
            os.write(terminal, b"\x03")

        code, output = self.in_terminal("--set", "model.width=1024", "--set", "model.context=64", "--set",
                                        "train.batch=64", on_output=stop_twice)
        self.assertEqual(code, 130)
        self.assertTrue(output.endswith("\n"), output[-200:])

    def test_a_failure_is_told_on_a_line_of_its_own(self):
        code, output = self.in_terminal("--set", "optimizer.learning_rate=1e30")
        screen = Screen(100)
        screen.feed(output)
        self.assertEqual(code, 76, output)
        self.assertEqual(screen.lines[-1], "")
        self.assertTrue(screen.lines[-2].startswith("error: "), screen.lines)

    def test_a_person_may_refuse_escape_codes(self):
        for refusal, more in (({"NO_COLOR": "1"}, ()), ({"TERM": "dumb"}, ()), ({}, ("--no-color",)),
                              ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, ())):
            with self.subTest(refusal, more=more):
                code, output = self.in_terminal("--overwrite", "--set", "train.steps=300", *more, environment=refusal)
                self.assertEqual(code, 0, output)
                self.assertNotIn(ESCAPE, output)
                self.assertNotIn("\r", output.replace("\r\n", ""))

    def test_a_log_gets_few_plain_lines(self):
        for forced in ({}, {"CLICOLOR_FORCE": "1"}):
            with self.subTest(forced):
                result = subprocess.run(self.words("--overwrite"), cwd=self.root, env=self.environment | forced,
                                        capture_output=True, text=True, check=True)
                self.assertEqual(result.stdout, "")
                self.assertNotIn(ESCAPE, result.stderr)
                self.assertNotIn("\r", result.stderr)
                lines = result.stderr.splitlines()
                self.assertLess(len(lines), 200)
                progress = [line for line in lines if re.match(
                    r"step \d+/2000 \(\d+%\)  loss \d.*  lr .*  norm .* chars/s  .* left$", line)]
                self.assertEqual(len(progress), 40)
                self.assertTrue(progress[-1].endswith("  0:00 left"))

    def test_time_left_after_a_resume_is_that_of_the_steps_left(self):
        subprocess.run(self.words("--quiet", "--set", "train.steps=1990"), cwd=self.root, check=True)
        result = subprocess.run([*self.words("--resume", "auto"), "--set", "train.log_every=1"], cwd=self.root,
                                env=self.environment, capture_output=True, text=True, check=True)
        progress = [line for line in result.stderr.splitlines() if re.match(r"step \d+/2000 ", line)]
        self.assertEqual(len(progress), 10)
        self.assertTrue(progress[0].startswith("step 1991/2000 (99%)"), progress[0])


if __name__ == "__main__":
    unittest.main()
