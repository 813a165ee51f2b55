#!/usr/bin/env python3
"""Trains one model for each learning rate, takes the best, and lets it write. Started again after a stop, it goes on with
the run that was stopped and repeats none. `chargpt sweep` does this and more; here you see the parts.

Usage: learning_rates.py CONFIG TEXT OUT RATE...     CHARGPT names the program (default: chargpt)
"""

import json
import os
import subprocess
import sys

CHARGPT = os.environ.get("CHARGPT", "chargpt")
DIVERGED = 76


def chargpt(*words):
    """What the command prints as JSON, or None where training diverged. Any other failure ends the script."""
    result = subprocess.run([CHARGPT, *words, "--quiet", "--json"], stdout=subprocess.PIPE, check=False)
    if result.returncode == DIVERGED:
        return None
    if result.returncode != 0:  # 129, 130, 143: stopped and saved
        sys.exit(result.returncode)
    return json.loads(result.stdout)


def main():
    config, text, out, *rates = sys.argv[1:]
    losses = {}
    for rate in rates:
        run = f"{out}/rate-{rate}"
        trained = chargpt("train", "--resume", "auto", "--out", run, "--config", config, "--data", text,
                          "--set", f"optimizer.learning_rate={rate}")
        if trained is None:
            print(f"{rate} diverged")
            continue
        losses[run] = chargpt("eval", "--run", run)["nats_per_char"]
        print(f"{rate} {losses[run]:.6f} ({trained['step']} steps)")
    if not losses:
        print("all diverged")
        sys.exit(DIVERGED)
    best = min(losses, key=losses.get)
    print(f"best: {best}")
    print(chargpt("sample", "--run", best, "--prompt", "the ", "--length", "100")["text"])


if __name__ == "__main__":
    main()
