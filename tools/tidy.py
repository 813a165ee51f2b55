#!/usr/bin/env python3
"""Runs clang-tidy on the sources named on stdin, two at a time, and remembers the clean ones.

Usage: tidy.py BUILD_DIR < LIST   BUILD_DIR holds compile_commands.json and receives the memory, one empty file for
each clean state. A state is all that the answer depends on: clang-tidy and its settings, the compile command, the
source, and those headers of ours that it includes, directly or not.
"""

import hashlib
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WORKERS = 2
INCLUDE = re.compile(rb'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


def own_headers(path, seen):
    """Adds to seen the headers of this project that the file includes, and theirs."""
    for name in INCLUDE.findall(path.read_bytes()):
        for folder in (Path("include"), Path("src"), path.parent):
            header = folder / name.decode()
            if header.is_file() and header not in seen:
                seen.add(header)
                own_headers(header, seen)
    return seen


def state(path, command, settings):
    digest = hashlib.sha256(settings + command.encode())
    for part in (path, *sorted(own_headers(path, set()))):
        digest.update(f"{part} {part.stat().st_size}\n".encode() + part.read_bytes())
    return digest.hexdigest()


def check(path, build, memory):
    """True if the source is clean."""
    if memory.exists():
        return True
    run = subprocess.run(["clang-tidy", "--quiet", "-p", build, path], capture_output=True, text=True)
    print(f"tidy: {path}: {'findings' if run.returncode else 'clean'}\n{run.stdout}", end="", flush=True)
    if run.returncode == 0:
        memory.touch()
    elif not run.stdout:
        print(run.stderr)
    return run.returncode == 0


def main():
    build = Path(sys.argv[1])
    memory = build / "clean"
    memory.mkdir(exist_ok=True)
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {Path(entry["file"]).resolve(): entry["command"] for entry in entries}
    settings = Path(".clang-tidy").read_bytes() + subprocess.check_output(["clang-tidy", "--version"])
    sources = [Path(line) for line in sys.stdin.read().splitlines()]
    unknown = [str(path) for path in sources if path.resolve() not in commands]
    if unknown:
        sys.exit(f"tidy: not part of the build: {', '.join(unknown)}")
    states = [memory / state(path, commands[path.resolve()], settings) for path in sources]
    with ThreadPoolExecutor(WORKERS) as pool:
        clean = list(pool.map(check, sources, [build] * len(sources), states))
    print(f"tidy: {len(sources)} sources, {clean.count(False)} with findings")
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
