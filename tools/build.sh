# Sourced by ./dev: building, testing, measuring, cleaning.
# shellcheck shell=bash

configure() {
  local torch=
  [[ -z ${LIBTORCH:-} ]] || torch=$(cd "$caller_folder" && realpath "$LIBTORCH")
  cmake --preset "$1" "-DCHARGPT_TORCH=$torch"
}

build_preset() {
  configure "$1"
  cmake --build --preset "$1" --parallel "$(jobs)"
}

verb_build() {
  setup_for_build
  build_preset release
  say "Built: build/release/bin/chargpt"
}

verb_test() {
  setup_for_tests
  setup_reference
  ((!all)) || setup_packages "${root_test_packages[@]}"
  build_preset dev
  local leave_out='^(root|soak)$'
  ((!all)) || leave_out='^soak$'
  ctest --preset dev --label-exclude "$leave_out"
}

# Beside the same models in PyTorch, in the Python that the parity tests use.
bench_peer() {
  setup_reference
  local out=bench/results.md options=()
  ((!quick)) || out=build/bench-quick.md options=(--quick)
  .deps/python/bin/python3 -B bench/compare.py --chargpt build/dev/bin/chargpt --out "$out" "${options[@]}"
}

verb_bench() {
  setup_for_tests
  build_preset dev
  if ((peer || quick)); then
    bench_peer
    return
  fi
  say "Micro-benchmarks of the kernels, to run one by one:" build/dev/bin/*_bench
  build/dev/bin/chargpt bench --config configs/nanogpt-cpu.json
}

# Every reader of untrusted bytes by libFuzzer, 100,000 inputs each. What crashes one stays in build/fuzz.
fuzz() {
  setup_packages "${fuzz_packages[@]}"
  build_preset fuzz
  local program reader found log
  for program in build/fuzz/bin/*_fuzz; do
    reader=$(basename "$program" _fuzz)
    found=build/fuzz/found/$reader log=build/fuzz/$reader.log
    mkdir -p "$found"
    "$program" -runs=100000 -seed=1 -max_len=65536 -artifact_prefix=build/fuzz/ "$found" "tests/fuzz/corpus/$reader" \
      >"$log" 2>&1 || { tail -n 50 "$log" && die 1 "$reader: a crash, see above and $log; its input belongs into tests/fuzz/corpus/$reader"; }
    say "Fuzzed: $reader, $(grep -c . <(ls "$found")) inputs kept that reach something new; $(tail -n 1 "$log")"
  done
}

verb_soak() {
  setup_for_tests
  build_preset dev
  ctest --preset dev --label-regex '^soak$'
  fuzz
}

verb_clean() {
  rm -rf build .deps
  say "Removed build/ and .deps/. Kept: runs/, collected texts in data/"
  if ((all)) && [[ -d $cache ]]; then
    say "Removing $cache, shared by all clones: $(du -sh "$cache" | cut -f 1)"
    rm -rf "$cache"
  elif [[ -d $cache ]]; then
    say "Kept: $cache, shared by all clones; ./dev clean --all removes it"
  fi
}
