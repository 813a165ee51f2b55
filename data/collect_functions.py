#!/usr/bin/env python3
"""Collects the documented functions of a tree of Python sources, one JSON object {"text": source} a line.

Usage: collect_functions.py [FOLDER [OUTPUT]]
  FOLDER   the tree; default: the standard library of this interpreter
  OUTPUT   the file to write; default: FOLDER's name (or "stdlib") and "_functions.jsonl", beside this script
"""

import argparse
import ast
import hashlib
import json
import os
import sys
import sysconfig
import tempfile
import warnings

# Not part of the tree itself; tests; and two parts of the standard library that only some machines have.
SKIPPED_FOLDERS = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3"}
MIN_DOCSTRING_WORDS = 3
MIN_LINES = 3
FILES_BETWEEN_REPORTS = 200


def report(text):
    print(text, file=sys.stderr, flush=True)


def source_files(root):
    """Paths of the tree's modules, sorted."""
    paths = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in SKIPPED_FOLDERS]
        paths += [os.path.join(folder, n) for n in names if n.endswith(".py") and not n.startswith("test")]
    return sorted(paths)


def parse(path):
    """Source and syntax tree of a file, or None where it is not UTF-8 or not of this Python."""
    try:
        with open(path, encoding="utf-8") as file:
            source = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in old modules
            return source, ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def is_wanted(node):
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    is_dunder = node.name.startswith("__") and node.name.endswith("__")
    if is_dunder or node.name.startswith("test_"):
        return False
    docstring = ast.get_docstring(node)
    return docstring is not None and len(docstring.split()) >= MIN_DOCSTRING_WORDS


def function_text(lines, node):
    """A function as it stands in its module, from `def` on: without decorators, first indent, and what follows its end.

    ast.get_source_segment gives the same, but cuts the whole source into lines for each function.
    """
    text = lines[node.lineno - 1 : node.end_lineno]
    text[-1] = text[-1].encode()[: node.end_col_offset].decode()  # ast counts columns in bytes
    return "\n".join(text).lstrip()


def functions_of(source, tree):
    """Texts of a module's wanted functions, in the order of ast.walk."""
    lines = source.split("\n")  # as ast counts them: splitlines() would break at form feeds too
    for node in filter(is_wanted, ast.walk(tree)):
        text = function_text(lines, node)
        if text.count("\n") + 1 >= MIN_LINES:
            yield text


def collect(paths):
    """Different function texts in order, and the number of files left out."""
    functions = {}  # keeps the order of first appearance
    left_out = 0
    for number, path in enumerate(paths, 1):
        parsed = parse(path)
        if parsed is None:
            left_out += 1
        else:
            functions.update(dict.fromkeys(functions_of(*parsed)))
        if number % FILES_BETWEEN_REPORTS == 0:
            report(f"  {number} of {len(paths)} files, {len(functions)} functions")
    return list(functions), left_out


def write_atomically(path, data):
    """Replaces the file as a whole or not at all."""
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".collect-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def parse_arguments():
    """Folder to read and file to write, both absolute."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="tree of Python sources (default: the standard library)")
    parser.add_argument("output", nargs="?", help="file to write (default: FOLDER_functions.jsonl beside this script)")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.folder or sysconfig.get_paths()["stdlib"])
    name = os.path.basename(folder) if arguments.folder else "stdlib"
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}_functions.jsonl")
    return folder, os.path.abspath(arguments.output or beside)


def main():
    root, output = parse_arguments()
    paths = source_files(root)
    report(f"reading {len(paths)} files under {root} with Python {sys.version.split()[0]}")
    functions, left_out = collect(paths)
    if not functions:
        sys.exit(f"error: no documented function found under {root}; are there Python sources?")

    data = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in functions).encode()
    try:
        write_atomically(output, data)
    except OSError as error:
        sys.exit(f"error: cannot write {output}: {error.strerror}")
    report(f"left out {left_out} files that do not parse or are not UTF-8")
    report(
        f"wrote {output}: {len(functions)} documents, {sum(map(len, functions))} characters, "
        f"{len(set().union(*functions))} different characters, SHA-256 {hashlib.sha256(data).hexdigest()}"
    )


if __name__ == "__main__":
    main()
