# Sourced by ./dev: messages, and where the cache lies.
# shellcheck shell=bash

readonly cache="${XDG_CACHE_HOME:-$HOME/.cache}/chargpt"

say() { printf '%s\n' "$*"; }

heading() { printf '\n== %s\n' "$*"; }

# die CODE MESSAGE
die() {
  printf 'dev: %s\n' "$2" >&2
  exit "$1"
}

python_program() {
  if [[ -x /usr/bin/python3 ]]; then echo /usr/bin/python3; else echo python3; fi
}

python_version() {
  "$(python_program)" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

# How many compilers fit: one a core, but a LibTorch source takes up to 2 GB.
jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemTotal:/ { print int($2 / 2000000) }' /proc/meminfo)
  echo $((gigabytes < 1 ? 1 : gigabytes < cores ? gigabytes : cores))
}

# A list of our own source files with the given suffix, one a line.
own_files() {
  find include src tests bench examples tools cmake data .ci -name "*.$1" -type f | sort
}
