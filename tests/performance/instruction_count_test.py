"""A training step's instructions for a character must not grow: counted by callgrind, so that the machine's speed and
load do not matter. callgrind runs the AVX2 kernels on every machine that has them; it knows no AVX-512."""
import json
import os
import re
import subprocess
import tempfile
import unittest

# By g++ 12.2. A deliberate change of the work done moves it: state the new count, and why, in docs/performance.md.
INSTRUCTIONS_PER_CHARACTER = 438_600
TOLERANCE = 0.05


def count():
    """Instructions of Network::accumulate_gradients() and all that it calls, and what the program said."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                   "--toggle-collect=chargpt::Network::accumulate_gradients*", os.environ["TRAINING_STEPS"]]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr)[1]), json.loads(result.stdout)


class InstructionCount(unittest.TestCase):
    def test_a_training_step_takes_no_more_instructions_than_stated(self):
        instructions, said = count()
        self.assertEqual(said["instruction_set"], "AVX2")
        per_character = instructions / said["characters"]
        self.assertLess(per_character, INSTRUCTIONS_PER_CHARACTER * (1 + TOLERANCE))
        self.assertGreater(per_character, INSTRUCTIONS_PER_CHARACTER * (1 - TOLERANCE), "faster: state the new count")


if __name__ == "__main__":
    unittest.main()
