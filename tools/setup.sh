# Sourced by ./dev: what building, testing and linting need, installed once.
# shellcheck shell=bash

readonly torch_version=2.15.0
readonly build_packages=(g++ cmake ninja-build python3 python3-venv libcli11-dev libspdlog-dev libfmt-dev
  nlohmann-json3-dev libhwy-dev libxxhash-dev libutfcpp-dev libutf8proc-dev libicu-dev libuchardet-dev
  zlib1g-dev libzstd-dev)
readonly test_packages=(libgtest-dev libbenchmark-dev valgrind)
readonly root_test_packages=(chromium chromium-driver python3-selenium slurm-wlm munge) # for ./dev test --all
readonly lint_packages=(clang-format clang-tidy)
readonly fuzz_packages=(clang libclang-rt-dev)

missing_packages() {
  local states name
  states=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for name in "$@"; do
    [[ $'\n'$states$'\n' == *$'\n'"$name installed"$'\n'* ]] || echo "$name"
  done
}

# setup_packages NAME...: installs those that are missing.
setup_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "Not a Debian or Ubuntu system: install these yourself under the names they have here: $*"
    return
  fi
  local missing as_root=(env DEBIAN_FRONTEND=noninteractive) sudo=
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || as_root=(sudo "${as_root[@]}") sudo='sudo '
  local install=(apt-get install --yes --no-install-recommends "${missing[@]}")
  say "Installing Debian packages: ${missing[*]} (apt-get says how large they are)"
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" "${install[@]}"; }; then
    die 1 "could not install them; type: ${sudo}apt-get update && ${sudo}${install[*]}"
  fi
}

have_nvidia_gpu() {
  [[ -e /dev/nvidia0 ]] || nvidia-smi >/dev/null 2>&1
}

# need_space FOLDER GIGABYTES
need_space() {
  local free
  free=$(df --output=avail --block-size=1G "$1" | tail -n 1)
  ((free >= $2)) || die 1 "$1 has $((free)) GB free, $2 GB are needed; free some, or set XDG_CACHE_HOME to a folder elsewhere"
}

# fill_venv FOLDER PIP_ARGUMENT...: what an interrupted run left is completed. Chained, for errexit is off in its caller.
fill_venv() {
  local folder=$1
  mkdir -p "$folder/tmp" && # /tmp may be held in memory, too small for the wheels
    "$(python_program)" -m venv "$folder" &&
    TMPDIR=$folder/tmp "$folder/bin/pip" --disable-pip-version-check --no-cache-dir install "${@:2}" &&
    rm -rf "$folder/tmp"
}

# ensure_venv FOLDER MARKER GIGABYTES PIP_ARGUMENT...: a Python environment, complete once its marker file is there.
# The lock keeps a second clone from installing into the same folder at once.
ensure_venv() {
  local folder=$1 marker=$1/$2 gigabytes=$3
  [[ ! -e $marker ]] || return 0
  mkdir -p "$folder"
  need_space "$folder" "$gigabytes"
  {
    flock 9 && { [[ -e $marker ]] || { fill_venv "$folder" "${@:4}" && touch "$marker"; }; }
  } 9>"$folder.lock" || die 1 "could not fill $folder; run the same command again when the cause above is gone"
}

# Where the pinned LibTorch lies, in a Python environment that clones share.
torch_folder() { echo "$cache/python-$(python_version)-torch-$torch_version"; }

# install_torch FOLDER: without a GPU only what libtorch_cpu.so is linked to, in the versions that torch itself asks for,
# so that completing the copy for Python replaces nothing.
install_torch() {
  if have_nvidia_gpu; then
    say "Installing LibTorch $torch_version with CUDA: 5.7 GB in $1, half of it to download"
    ensure_venv "$1" .complete-full 9 "torch==$torch_version"
  elif [[ ! -e $1/.complete-lean ]]; then
    say "Installing LibTorch $torch_version: 550 MB to download, 1.3 GB in $1"
    ensure_venv "$1" .complete-lean 3 --no-deps "torch==$torch_version" \
      'nvidia-cuda-runtime==13.2.86.*' 'nvidia-cuda-cupti==13.2.86.*'
  fi
}

# The pinned LibTorch, or the user's own.
setup_torch() {
  if [[ -n ${LIBTORCH:-} ]]; then
    say "LibTorch: $LIBTORCH (named by LIBTORCH)"
    return
  fi
  local folder
  folder=$(torch_folder)
  [[ -e $folder/.complete-full ]] || install_torch "$folder"
  link_python "$folder"
}

link_python() {
  mkdir -p .deps
  [[ $(readlink .deps/python) == "$1" ]] || ln -sfn "$1" .deps/python
}

# What the parity tests compare with: the same copy of torch, completed so that Python can import it. pip fetches all
# before it installs anything; interrupted, it leaves what building needs as it was.
setup_reference() {
  local folder
  folder=$(torch_folder)
  if [[ ! -e $folder/.complete-reference ]]; then
    say "Completing torch $torch_version for Python, which the parity tests compare with: up to 2.5 GB to download, 5.8 GB in all in $folder"
    ensure_venv "$folder" .complete-reference 7 "torch==$torch_version" 'safetensors>=0.5' 'numpy>=2'
  fi
  ensure_venv "$folder" .complete-tensorboard 1 'tensorboard>=2.20,<3' # reads our event files back
  link_python "$folder"
}

setup_for_build() {
  setup_packages "${build_packages[@]}"
  setup_torch
}

setup_for_tests() {
  setup_packages "${build_packages[@]}" "${test_packages[@]}"
  setup_torch
}

verb_setup() {
  setup_for_build
  say "Set up. Next: ./dev build"
}
