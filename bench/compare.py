#!/usr/bin/env python3
"""chargpt beside the peer (pytorch_peer.py) on this machine: both in turn, medians of the ratios.

    compare.py --chargpt PROGRAM --out FILE.md [--quick]

Every figure of FILE.md is from this one run. --quick makes every measurement as short as it can be, to see that all of
it works; its figures mean nothing.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shapes import SHAPES

HERE = Path(__file__).resolve().parent
CORES = len(os.sched_getaffinity(0))
C_BATCH = 16  # of training; the shape's own takes a peer minutes a step


class Bench:
    """Runs the programs that are compared."""

    def __init__(self, program, quick):
        self.program, self.quick = program, quick
        self.rounds = 1 if quick else 5
        self.rounds_of_a = 1 if quick else 3
        self.seconds = "0.1" if quick else "5"
        self.chars = 32 if quick else 1000
        self.commands = {}  # what was run, each once, in order

    def batch(self, shape):
        return 4 if self.quick else C_BATCH if shape == "C" else SHAPES[shape].batch

    def peer_steps(self, shape):
        steps, warmup = {"A": (2, 1), "B": (30, 5), "C": (3, 1)}[shape]
        return ["--steps", 1 if self.quick else steps, "--warmup", warmup]

    def note(self, command):
        words = [Path(word).name if str(word).startswith("/") else word for word in command]
        print("+", *words, file=sys.stderr, flush=True)
        self.commands[" ".join(words)] = True

    def output(self, command):
        self.note(command)
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if result.returncode:
            sys.exit(f"compare.py: exit code {result.returncode} from: {' '.join(map(str, command))}")
        return result.stdout

    def peer(self, job, shape, style, threads, *options):
        command = [sys.executable, HERE / "pytorch_peer.py", job, "--shape", shape, "--style", style,
                   "--threads", threads, *options]
        return json.loads(self.output([str(word) for word in command]))

    def product_command(self, part, shape, threads, **settings):
        s = SHAPES[shape]
        keys = {"model.layers": s.layers, "model.heads": s.heads, "model.width": s.width, "model.context": s.context,
                "model.dropout": s.dropout, "train.batch": self.batch(shape)}
        keys |= {f"sample.{name}": value for name, value in settings.items()}
        command = [self.program, "bench", "--json", "--only", part, "--vocabulary", s.vocabulary, "--threads", threads,
                   "--seconds", self.seconds]
        for key, value in keys.items():
            command += ["--set", f"{key}={value}"]
        return [str(word) for word in command]

    def product(self, *arguments, **settings):
        return json.loads(self.output(self.product_command(*arguments, **settings)))

    def side_by_side(self, count, shape):
        """Training speeds of some processes of one thread at once."""
        command = self.product_command("training", shape, 1)
        self.note(command)
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        return [json.loads(process.communicate()[0])["training_chars_per_second"] for process in processes]


def ratio(values):
    return f"{statistics.median(values):.2f}x"


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def training_rows(bench, shape, styles):
    batch = bench.batch(shape)
    ratios, products, peers = {style: [] for style in styles}, [], {style: [] for style in styles}
    for _ in range(bench.rounds_of_a if shape == "A" else bench.rounds):
        for style in styles:
            peer = bench.peer("train", shape, style, CORES, "--batch", batch, *bench.peer_steps(shape))
            product = bench.product("training", shape, CORES)
            products.append(product)
            peers[style].append(peer["tokens_per_second"])
            ratios[style].append(product["training_chars_per_second"] / peer["tokens_per_second"])
    middle = {key: statistics.median(p[key] for p in products)
              for key in ("training_chars_per_second", "training_gflops", "fma_peak_gflops", "share_of_fma_peak",
                          "peak_rss_mib")}
    against = [row(f"{shape} training, batch {batch}, peer in style {style}",
                   f"{middle['training_chars_per_second']:.0f}", f"{statistics.median(peers[style]):.0f}",
                   ratio(ratios[style])) for style in styles]
    share = row(shape, f"{middle['training_gflops']:.1f}", f"{middle['fma_peak_gflops']:.1f}",
                f"{100 * middle['share_of_fma_peak']:.0f} %", f"{middle['peak_rss_mib']:.0f}")
    return against, share


def scaling_row(bench, shape):
    """The second thread, and processes side by side, against one thread alone."""
    threads, processes = [], []
    for _ in range(bench.rounds):
        alone = bench.product("training", shape, 1)["training_chars_per_second"]
        threads.append(bench.product("training", shape, 2)["training_chars_per_second"] / alone)
        processes.append(sum(bench.side_by_side(2, shape)) / alone)
    return row(shape, ratio(threads), ratio(processes))


def sampling_rows(bench, shape):
    speeds = {"one stream": [], "one stream, --exact": [], "64 streams": []}
    settings = {"one stream": {"samples": 1}, "one stream, --exact": {"samples": 1, "exact": "true"},
                "64 streams": {"samples": 64}}
    peers, ratios = [], {name: [] for name in speeds}
    for _ in range(bench.rounds):
        peers.append(bench.peer("sample", shape, "fused", 1, "--chars", bench.chars)["chars_per_second"])
        for name, some in settings.items():
            threads = CORES if some["samples"] > 1 else 1
            speed = bench.product("sampling", shape, threads, length=bench.chars, **some)["sampling_chars_per_second"]
            speeds[name].append(speed / threads)
            ratios[name].append(speed / threads / peers[-1])
    return [row(f"{shape} sampling, {name}, a core", f"{statistics.median(speeds[name]):.0f}",
                f"{statistics.median(peers):.0f}", ratio(ratios[name])) for name in speeds]


def milliseconds(command, folder, times):
    def once():
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return 1000 * (time.perf_counter() - start)

    return statistics.median(once() for _ in range(times))


def start_rows(bench):
    program, smoke = str(bench.program), str(HERE.parent / "configs" / "smoke.json")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "text.txt").write_text("The quick brown fox jumps over the lazy dog.\n" * 100)
        bench.output([program, "train", "--quiet", "--config", smoke, "--data", f"{folder}/text.txt", "--out",
                      f"{folder}/run"])
        commands = {"chargpt --help": ["--help"], "chargpt config check": ["config", "check", "--config", smoke],
                    "chargpt sample of 10 characters": ["sample", "--run", "run", "--length", "10"]}
        return [row(f"`{name}`" if "of" not in name else name,
                    f"{milliseconds([program, *words], folder, 3 if bench.quick else 20):.1f}")
                for name, words in commands.items()]


def machine(bench):
    facts = json.loads(bench.output([str(bench.program), "doctor", "--json"]))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True).stdout
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    model = f"family {cpu.get('cpu family')}, model {cpu.get('model')}"
    return (f"{facts['processor']} ({model}), {CORES} cores, {facts['instruction_set']}, "
            f"{facts['memory_gib']:.1f} GiB of memory, {facts['system']}. chargpt {facts['chargpt']} "
            f"({commit.strip()}), {facts['compiler']}, LibTorch and PyTorch {facts['libtorch']}. "
            f"{datetime.date.today().isoformat()}.")


def table(head, rows):
    columns = head.count("|") - 1
    return [head, "|" + " --- |" * columns, *rows, ""]


def report(bench):
    train_a, share_a = training_rows(bench, "A", ["seed", "fused"])
    train_b, share_b = training_rows(bench, "B", ["fused"])
    train_c, share_c = training_rows(bench, "C", ["fused"])
    sampling = [line for shape in SHAPES for line in sampling_rows(bench, shape)]
    scaling = [scaling_row(bench, shape) for shape in SHAPES] if CORES > 1 else []
    starts = start_rows(bench)
    quick = ["A quick try: these figures mean nothing.", ""] if bench.quick else []
    return "\n".join([
        "# Speed beside PyTorch", "", *quick,
        "Written by `./dev bench --peer`, which regenerates it on your machine: peer (`bench/pytorch_peer.py`) and",
        "product in turn, medians, a ratio within each round; shapes of `bench/shapes.py`, fp32, random text.", "",
        machine(bench), "",
        "Characters per second, and how many times the peer's:", "",
        *table("| work | chargpt | peer | ratio |", train_a + train_b + train_c + sampling),
        "Arithmetic of the model in training (matrix products and causal attention) beside the fused multiply-adds",
        "that the same threads do in registers, GF/s; and the resident memory, MiB:", "",
        *table("| shape | model | peak | share | memory |", [share_a, share_b, share_c]),
        "Training speed against one thread alone:", "",
        *table("| shape | two threads | two processes of one thread |", scaling),
        "Whole processes, milliseconds:", "",
        *table("| command | median |", starts),
        "What was run:", "", *(f"    {command}" for command in bench.commands), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chargpt", required=True, type=Path, help="the program")
    parser.add_argument("--out", required=True, type=Path, help="the report to write")
    parser.add_argument("--quick", action="store_true", help="only see that everything works")
    options = parser.parse_args()
    options.out.write_text(report(Bench(options.chargpt.resolve(), options.quick)))
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
