# Sourced by ./dev: from an empty folder to a model that writes text. Every stage is passed over when its result is
# there and nothing that it was made from is newer.
# shellcheck shell=bash

readonly quickstart_text=data/stdlib_functions.jsonl
readonly quickstart_config=configs/quickstart.json
readonly quickstart_run=runs/quickstart
readonly quickstart_notes=build/quickstart # what the stages said; clean removes it, and then they are only said again
readonly chargpt=build/release/bin/chargpt

# is_current RESULT INPUT...
is_current() {
  local result=$1 input
  [[ -e $result ]] || return 1
  for input in "${@:2}"; do
    [[ ! $input -nt $result ]] || return 1
  done
}

# noted NAME COMMAND...: runs the command, shows what it prints, and keeps it once the command has succeeded.
noted() {
  local note=$quickstart_notes/$1
  mkdir -p "$quickstart_notes"
  "${@:2}" | tee --ignore-interrupts "$note.part" && mv "$note.part" "$note"
}

stage_collect() {
  heading "3/6 Collect a text: the functions of Python's standard library (seconds)"
  if is_current "$quickstart_text" data/collect_functions.py; then
    say "Already there: $quickstart_text"
  else
    "$(python_program)" data/collect_functions.py
  fi
}

stage_train() {
  heading "4/6 Train (about 2 minutes; Ctrl-C is safe, ./dev quickstart goes on from there)"
  if [[ -d $quickstart_run ]] && is_current "$quickstart_notes/train" "$quickstart_config" "$quickstart_text"; then
    say "Already trained: $quickstart_run"
    return
  fi
  noted train "$chargpt" train --config "$quickstart_config" --out "$quickstart_run" --resume auto ||
    die $? "training stopped, see above. If $quickstart_run was made with another config or text, rename it and start again"
}

# stage_show NAME TITLE COMMAND...: a result that is printed; already there, it is printed again.
stage_show() {
  local note=$quickstart_notes/$1
  heading "$2"
  if is_current "$note" "$quickstart_notes/train"; then
    say "Already done:"
    cat "$note"
  else
    noted "$1" "${@:3}"
  fi
}

say_what_next() {
  heading "Done"
  cat <<NEXT
Written:  $quickstart_text   the text
          $quickstart_run                the run: config, metrics, checkpoints
          $chargpt     the program

Next:     $chargpt sample --run $quickstart_run --prompt 'def '
          $chargpt train --config configs/nanogpt-cpu.json --data YOUR.txt --out runs/mine
          $chargpt --help
NEXT
}

verb_quickstart() {
  heading "1/6 Set up (seconds, and the downloads it names)"
  setup_for_build
  heading "2/6 Build (about 6 minutes on 2 cores, only what is not built yet)"
  build_preset release
  stage_collect
  stage_train
  stage_show eval "5/6 Evaluate (seconds)" "$chargpt" eval --run "$quickstart_run"
  stage_show sample "6/6 Sample (seconds)" "$chargpt" sample --run "$quickstart_run" --length 400
  say_what_next
}
