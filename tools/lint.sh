# Sourced by ./dev: the style rules.
# shellcheck shell=bash

readonly lizard_version=1.24.3
readonly longest_function=60
readonly longest_file=350

verb_format() {
  setup_packages "${lint_packages[@]}"
  own_files '[ch]pp' | xargs clang-format -i
}

lint_format() {
  own_files '[ch]pp' | xargs clang-format --dry-run -Werror
}

lint_functions() {
  local folder
  folder=$cache/python-$(python_version)-lizard-$lizard_version
  ensure_venv "$folder" .complete 1 --quiet "lizard==$lizard_version"
  # Only the length counts here; clang-tidy judges the rest.
  "$folder/bin/lizard" --languages cpp --languages python --length "$longest_function" --CCN 1000 --arguments 100 \
    --warnings_only include src tests bench examples data tools
}

lint_files() {
  { own_files '[ch]pp' && own_files py && own_files sh && own_files cmake && echo dev; } |
    xargs awk -v most="$longest_file" \
      'FNR == most + 1 { print FILENAME ": longer than " most " lines"; bad = 1 } END { exit bad }'
}

lint_layers() {
  python3 tests/layers_test.py 2>&1
}

# The commit that changes are counted from: where this branch left origin/main, else the one before, else nothing.
lint_base() {
  local head base
  head=$(git rev-parse --quiet --verify HEAD) || head=none
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=$head
  if [[ $base == "$head" ]]; then
    base=$(git rev-parse --quiet --verify HEAD~1) || base=$(git hash-object -t tree /dev/null)
  fi
  echo "$base"
}

changed_files() {
  local base
  base=$(lint_base)
  git diff --name-only --diff-filter=d "$base" -- include src
  git ls-files --others --exclude-standard -- include src
}

# Sources that include LibTorch's headers take half a minute each: those that changed, or whose own header did.
torch_sources() {
  if ((all)); then
    find src/nn src/engine src/commands src/library.cpp -name '*.cpp'
  else
    changed_files | sed -nE 's#^(include/chargpt|src)/((nn|engine|commands)/.*|library)\.[ch]pp$#src/\2.cpp#p'
  fi | sort -u | while read -r file; do [[ ! -e $file ]] || echo "$file"; done
}

torch_free_sources() {
  find src/base src/kernels src/sampling src/app src/main.cpp -name '*.cpp' | sort
}

lint_tidy() {
  configure tidy >build/tidy.log || { cat build/tidy.log; return 1; }
  { torch_sources && torch_free_sources; } | python3 tools/tidy.py build/tidy
}

# lint_stage NAME: runs lint_NAME, notes a failure and goes on, so that one run shows all there is to mend.
lint_stage() {
  local start=$SECONDS
  if (lint_"$1"); then
    say "lint: $1 is clean ($((SECONDS - start)) s)"
  else
    say "lint: $1 FAILED"
    failed+=("$1")
  fi
}

verb_lint() {
  setup_packages "${build_packages[@]}" "${lint_packages[@]}"
  setup_torch
  local failed=() name
  mkdir -p build
  for name in layers format files functions tidy; do lint_stage "$name"; done
  ((${#failed[@]} == 0)) || die 1 "lint failed: ${failed[*]}"
}
