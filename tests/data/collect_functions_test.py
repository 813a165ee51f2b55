#!/usr/bin/env python3
"""The recipe of data/collect_functions.py on a small tree made here."""

import ast
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "data" / "collect_functions.py"

MODULE = '''\
import os


@decorated
def kept(a,
         b):
    """Adds two numbers, \u00e4 and \u6f22."""
    return a + b  # this comment is behind the end\f


class Thing:
    async def method(self):
        """A method in documented form."""

        return "\u6f22"  # nor is this one in it

    def __init__(self):
        """Special methods are left out."""
        self.a = 1

    def test_method(self):
        """Tests are left out too."""
        return 1


def undocumented():
    a = 1
    return a


def short(): """Two lines are too few."""


def few():
    """Two words."""
    return 1


def outer():
    """Holds another one inside."""

    def inner():
        """Is found after it."""
        return 2

    return inner
'''


class Recipe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def collect(self, output="out.jsonl"):
        command = [sys.executable, str(SCRIPT), str(self.root / "tree"), str(self.root / output)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def texts(self):
        result = self.collect()
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line)["text"] for line in (self.root / "out.jsonl").read_text("utf-8").splitlines()]

    def test_keeps_documented_functions_of_three_lines_in_the_order_of_the_tree(self):
        self.write("a.py", MODULE)
        names = [text.split("(")[0] for text in self.texts()]
        self.assertEqual(names, ["def kept", "def outer", "async def method", "def inner"])

    def test_a_text_is_the_source_segment_of_its_node(self):
        self.write("a.py", MODULE)
        wanted = {"kept", "method", "outer", "inner"}
        nodes = [n for n in ast.walk(ast.parse(MODULE)) if getattr(n, "name", "") in wanted]
        self.assertEqual(self.texts(), [ast.get_source_segment(MODULE, node) for node in nodes])

    def test_leaves_out_tests_and_installed_packages(self):
        for name in ("tests/a.py", "test/a.py", "test_a.py", "tests.py", "site-packages/a.py", "a.txt"):
            self.write(name, MODULE)
        self.assertEqual(self.collect().returncode, 1)

    def test_keeps_what_stands_twice_once_where_it_stands_first(self):
        self.write("b.py", MODULE)
        self.write("a.py", MODULE[MODULE.index("def outer") :] + MODULE)
        self.assertEqual([text.split("(")[0] for text in self.texts()][0], "def outer")
        self.assertEqual(len(self.texts()), 4)

    def test_passes_over_and_counts_files_that_it_cannot_read(self):
        self.write("a.py", MODULE)
        self.write("b.py", "def broken(:\n")
        self.write("c.py", b"# \xff\n" + MODULE.encode())
        self.assertEqual(len(self.texts()), 4)
        self.assertIn("left out 2 files", self.collect().stderr)

    def test_gives_the_same_bytes_every_time_and_only_the_given_file(self):
        self.write("z/a.py", MODULE)
        self.write("b.py", MODULE[MODULE.index("def outer") :])
        self.texts()
        first = (self.root / "out.jsonl").read_bytes()
        self.texts()
        self.assertEqual((self.root / "out.jsonl").read_bytes(), first)
        self.assertEqual(sorted(os.listdir(self.root)), ["out.jsonl", "tree"])

    def test_a_tree_without_functions_is_an_error_that_writes_nothing(self):
        self.write("a.py", "x = 1\n")
        result = self.collect()
        self.assertEqual(result.returncode, 1)
        self.assertIn("no documented function", result.stderr)
        self.assertFalse((self.root / "out.jsonl").exists())

    def test_says_what_it_cannot_write(self):
        self.write("a.py", MODULE)
        result = self.collect("nowhere/out.jsonl")
        self.assertEqual(result.returncode, 1)
        self.assertIn("nowhere", result.stderr)
        self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
