#!/usr/bin/env python3
"""What configs/lecture.json makes of documents, counted again by cutting every window out.

Takes the program and JSONL files besides the one that is made here from the standard library. Of the lecture's own
text, where it has been made (data/README.md), the published counts are expected too.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LECTURE = ROOT / "configs" / "lecture.json"
CONTEXT = json.loads(LECTURE.read_text())["model"]["context"]
PUBLISHED = {"spark_functions.jsonl": {"documents": 1845, "vocabulary": 98, "windows": 958356}}
PROGRAM, FILES = Path(sys.argv[1]).resolve(), [Path(name).resolve() for name in sys.argv[2:]]


def brute_force(path):
    documents = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").split("\n") if line]
    characters = {character for text in documents for character in text}
    windows = 0
    for text in documents:
        ids = [*text, "<|e|>"]
        windows += sum(len(ids[start:start + CONTEXT + 1]) == CONTEXT + 1 for start in range(len(ids)))
    return {"documents": len(documents), "vocabulary": len(characters) + 1, "windows": windows}


def counted(path, folder):
    def document(*command):
        return json.loads(subprocess.run([PROGRAM, *command, "--data", path, "--set", "data.val_fraction=0", "--json"],
                                         cwd=folder, check=True, stdout=subprocess.PIPE).stdout)

    checked = document("data", "check")
    plan = document("train", "--dry-run", "--config", LECTURE, "--set", "train.batch=2")
    return {"documents": sum(part["documents"] for part in checked["parts"]), "vocabulary": checked["vocabulary_size"],
            "windows": plan["characters_per_epoch"] // CONTEXT}


class WindowCounts(unittest.TestCase):
    def test_are_those_of_brute_force(self):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "stdlib_functions.jsonl")
            subprocess.run([sys.executable, "-B", ROOT / "data" / "collect_functions.py", Path(json.__file__).parents[1],
                            library], check=True, stdout=subprocess.DEVNULL)
            for path in [library, *FILES]:
                with self.subTest(path.name):
                    wanted = brute_force(path)
                    self.assertEqual(counted(path, folder), wanted)
                    self.assertEqual(PUBLISHED.get(path.name, wanted), wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
