#!/usr/bin/env bash
# Trains one model for each learning rate, evaluates each, and names the best. Started again after a stop, it goes on
# with the run that was stopped and repeats none. `chargpt sweep` does this and more; here you see the parts.
# Usage: learning_rates.sh CONFIG TEXT OUT RATE...     CHARGPT names the program (default: chargpt)
set -euo pipefail
chargpt=${CHARGPT:-chargpt}
config=$1 text=$2 out=$3
shift 3
mkdir -p "$(dirname "$out")"

for rate in "$@"; do
  run=$out/rate-$rate code=0
  "$chargpt" train --quiet --resume auto --out "$run" --config "$config" --data "$text" \
    --set "optimizer.learning_rate=$rate" || code=$?
  case $code in
    0) ;;
    76) echo "$rate diverged" && continue ;;
    *) exit "$code" ;; # 129, 130, 143: stopped and saved
  esac
  loss=$("$chargpt" eval --quiet --run "$run" --json | sed -n 's/.*"nats_per_char": *\([0-9.e+-]*\).*/\1/p')
  echo "$rate $loss"
done | tee "$out.txt"
best=$(sed '/diverged/d' "$out.txt" | sort -k 2 -g | head -n 1)
[[ $best ]] || { echo "all diverged" && exit 76; }
echo "best: $best"
