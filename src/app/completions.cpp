#include "chargpt/app/completions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/command_line.hpp"
#include "chargpt/base/output.hpp"

namespace chargpt {
namespace {

// Each asks the program that is being typed. Bash takes a word apart at "=", so that only what is behind it is put in.
constexpr const char* kBash = R"(_chargpt() {
  local line=${COMP_LINE:0:COMP_POINT} words last IFS=$' \t\n'
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  last=${words[-1]}
  mapfile -t COMPREPLY < <("$1" completions bash -- "${words[@]:1}" 2>/dev/null)
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  [[ $last == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${last%%=*}="}")
}
complete -o default -F _chargpt chargpt
)";

constexpr const char* kZsh = R"(#compdef chargpt
_chargpt() {
  local -a found
  found=("${(@f)$(${words[1]} completions zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z $found ]]; then
    _files
  else
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
  fi
}
compdef _chargpt chargpt
)";

constexpr const char* kFish = R"(function __chargpt_complete
  set -l words (commandline -opc)
  set -l found ($words[1] completions fish -- $words[2..] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c chargpt -f -a '(__chargpt_complete)'
)";

const std::map<std::string, const char*> kScripts = {{"bash", kBash}, {"fish", kFish}, {"zsh", kZsh}};

std::vector<std::string> flags(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App* child(const CLI::App& command, const std::string& name) {
  const auto found = command.get_subcommands([&](const CLI::App* app) { return app->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::vector<std::string> children(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(app->get_name());
  }
  return names;
}

/// The words of a type name such as "windows|sliding|random"; those in capitals stand for something.
std::vector<std::string> values(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.find('|') == std::string::npos) return {};
  std::vector<std::string> words;
  for (std::string& word : CLI::detail::split(type, '|')) {
    if (!word.empty() && std::islower(static_cast<unsigned char>(word.front())) != 0) words.push_back(std::move(word));
  }
  return words;
}

/// "model.width=", and for a key that is typed already what it can be set to.
std::vector<std::string> assignments(const std::string& typed) {
  Config config;
  const KeyList keys = describe(config);
  std::vector<std::string> words;
  for (const ConfigKey& key : keys.keys()) {
    const std::string begin = key.name + "=";
    if (!typed.starts_with(begin)) {
      words.push_back(begin);
    } else if (const auto* choice = std::get_if<Choice>(&key.value)) {
      for (const std::string_view name : choice->names) words.push_back(begin + std::string(name));
    }
  }
  return words;
}

/// Where the words lead: the command that they name, and its flag that still waits for a value.
struct Place {
  const CLI::App* command;
  const CLI::Option* waiting = nullptr;
};

Place find_place(const CLI::App& program, const std::vector<std::string>& words) {
  Place place{&program};
  for (const std::string& word : words) {
    const bool value = std::exchange(place.waiting, nullptr) != nullptr;
    if (value) continue;
    if (const CLI::App* named = child(*place.command, word)) place.command = named;
    const CLI::Option* option = word.starts_with('-') ? place.command->get_option_no_throw(word) : nullptr;
    if (option != nullptr && option->get_items_expected_max() > 0) place.waiting = option;
  }
  return place;
}

std::vector<std::string> possible(const Place& place, const std::string& typed) {
  if (place.waiting != nullptr && place.waiting->check_lname("set")) return assignments(typed);
  if (place.waiting != nullptr) return values(*place.waiting);
  return typed.starts_with('-') ? flags(*place.command) : children(*place.command);
}

}  // namespace

std::vector<std::string> completions(const CLI::App& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  auto found = possible(find_place(program, {words.begin(), words.end() - 1}), words.back());
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(words.back()); });
  std::sort(found.begin(), found.end());
  return found;
}

int run_completions(const Arguments& arguments) {
  if (!arguments.words.empty()) {
    for (const std::string& word : complete_command_line(arguments.words)) write_output(word + "\n");
    return 0;
  }
  const auto script = kScripts.find(arguments.shell);
  if (script == kScripts.end()) {
    throw Error(ExitCode::usage, fmt::format("no completions for {}: bash, zsh and fish have some", arguments.shell));
  }
  write_output(script->second);
  return 0;
}

}  // namespace chargpt
