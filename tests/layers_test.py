#!/usr/bin/env python3
"""Includes point down only: base < kernels, sampling < nn < engine < commands < app, and the program needs no LibTorch.

Usage: layers_test.py [ROOT]   prints each include that breaks the rule and exits 1 if there is one.
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

TORCH_FREE = ("base", "kernels", "sampling", "app")
BELOW_ENGINE = ("base", "kernels", "sampling", "nn")
MAY_INCLUDE = {
    "base": (),
    "kernels": ("base",),
    "sampling": ("base",),
    "nn": ("base", "kernels", "sampling"),
    "engine": BELOW_ENGINE,
    "commands": (*BELOW_ENGINE, "engine"),
    "app": ("base", "kernels", "sampling"),
}
# Sources that lie directly in src/ belong to the part that they give a main or a library to.
ROOT_SOURCES = {"main.cpp": "app", "library.cpp": "commands"}
# The one struct that the program hands to the engine library: both sides see it, so it obeys the program's rules.
BRIDGE = "chargpt/commands/request.hpp"
TORCH_HEADER = re.compile(r"(torch|ATen|c10|caffe2)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')


def part_of(path, root):
    """The part that a file under include/chargpt/ or src/ belongs to, None if it belongs to none."""
    for top in (root / "include" / "chargpt", root / "src"):
        if path.is_relative_to(top):
            first, *rest = path.relative_to(top).parts
            return first if rest and first in MAY_INCLUDE else ROOT_SOURCES.get(first)
    return None


def included_part(path, name, root):
    """The part that an include names: by its public path, or a header beside its user; None if it is not ours."""
    for candidate in (root / "include" / name, root / "src" / name, path.parent / name):
        if candidate.is_file():
            return part_of(candidate.resolve(), root)
    return name.split("/")[1] if name.startswith("chargpt/") else None


def fault(path, name, root):
    """Why the file must not include that name; None if it may."""
    part = "app" if path == root / "include" / BRIDGE else part_of(path, root)
    if part is None:
        return "the file belongs to no part"
    if TORCH_HEADER.match(name):
        return f"{part} is free of LibTorch" if part in TORCH_FREE else None
    if part == "app" and name == BRIDGE:
        return None
    included = included_part(path, name, root)
    if included in (None, part, *MAY_INCLUDE[part]):
        return None
    return f"{part} may include only {', '.join((part, *MAY_INCLUDE[part]))}"


def sources(root):
    return sorted(p for top in ("include", "src") for p in (root / top).rglob("*") if p.suffix in (".hpp", ".cpp"))


def faults(root):
    found = []
    for path in sources(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            include = INCLUDE.match(line)
            reason = include and fault(path, include[1], root)
            if reason:
                found.append(f"{path.relative_to(root)}:{number}: includes {include[1]}: {reason}")
    return found


class PlantedIncludes(unittest.TestCase):
    """The check itself, on small trees: what it must find and what it must let pass."""

    def check(self, name, line, *others):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for path, text in ((name, line), *((other, "") for other in others)):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text + "\n", encoding="utf-8")
            return faults(root)

    def test_an_include_that_points_up_is_found(self):
        found = self.check("src/base/a.cpp", '#include "chargpt/kernels/gelu.hpp"')
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/a.cpp:1", found[0])

    def test_every_pair_of_parts_is_judged_by_the_table(self):
        for part, below in MAY_INCLUDE.items():
            for other in MAY_INCLUDE:
                with self.subTest(part=part, other=other):
                    found = self.check(f"include/chargpt/{part}/a.hpp", f"#include <chargpt/{other}/b.hpp>")
                    self.assertEqual(found == [], other == part or other in below)

    def test_torch_is_let_into_its_own_parts_only(self):
        for part in MAY_INCLUDE:
            for header in ("torch/torch.h", "ATen/ops/linear.h", "c10/core/Device.h"):
                with self.subTest(part=part, header=header):
                    found = self.check(f"src/{part}/a.cpp", f"  #  include <{header}>")
                    self.assertEqual(found == [], part not in TORCH_FREE)

    def test_the_program_sees_the_request_and_nothing_else_of_the_commands(self):
        self.assertEqual(self.check("src/app/a.cpp", f'#include "{BRIDGE}"'), [])
        self.assertEqual(self.check("src/main.cpp", f'#include "{BRIDGE}"'), [])
        self.assertEqual(len(self.check("src/app/a.cpp", '#include "chargpt/commands/train.hpp"')), 1)
        self.assertEqual(len(self.check("src/main.cpp", '#include "chargpt/engine/trainer.hpp"')), 1)

    def test_the_request_itself_obeys_the_programs_rules(self):
        for header in ("torch/torch.h", "chargpt/engine/trainer.hpp"):
            self.assertEqual(len(self.check(f"include/{BRIDGE}", f'#include "{header}"')), 1)
        self.assertEqual(self.check(f"include/{BRIDGE}", '#include "chargpt/base/config.hpp"'), [])

    def test_a_private_header_counts_as_its_parts_own(self):
        self.assertEqual(self.check("src/nn/a.cpp", '#include "a_detail.hpp"', "src/nn/a_detail.hpp"), [])
        self.assertEqual(len(self.check("src/base/a.cpp", '#include "../nn/b.hpp"', "src/nn/b.hpp")), 1)

    def test_a_file_outside_every_part_is_found(self):
        self.assertEqual(len(self.check("src/stray.cpp", "#include <vector>")), 1)
        self.assertEqual(len(self.check("src/extra/a.cpp", "#include <vector>")), 1)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(PlantedIncludes)
    sound = unittest.TextTestRunner().run(suite).wasSuccessful()
    found = faults(root)
    print("\n".join(found) or f"layers: {len(sources(root))} files keep the rule")
    return 0 if sound and sources(root) and not found else 1


if __name__ == "__main__":
    sys.exit(main())
