#include "chargpt/base/config_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chargpt/base/nearest.hpp"

namespace chargpt {
namespace {

/// The largest magnitude up to which a double holds every integer: beyond it JSON readers disagree about the value.
constexpr std::int64_t kMaxInteger = (std::int64_t{1} << 53) - 1;

/// At most about 60 bytes of `text`, cut between characters.
std::string shortened(std::string text) {
  std::size_t length = 60;
  if (text.size() <= length) return text;
  while ((static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length) + "...";
}

/// A JSON value and its type, for "got ...".
std::string got(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_number_float() && !std::isfinite(json.get<double>())) return fmt::format("{}", json.get<double>());
  std::string text = shortened(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (json.is_string()) return text + " (text)";
  if (json.is_array()) return text + " (a list)";
  if (json.is_boolean()) return text + " (a truth value)";
  return text;
}

std::string with_range(const std::string& type, const Range& range, const char* between) {
  const std::string interval = range.text();
  return interval.empty() ? type : type + between + interval;
}

struct TypeName {
  std::string operator()(const bool*) const { return "truth value"; }
  std::string operator()(const std::int64_t*) const { return "integer"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const std::string*) const { return "text"; }
  std::string operator()(const std::vector<double>*) const { return "numbers"; }
  std::string operator()(const std::vector<std::string>*) const { return "texts"; }
  std::string operator()(const Interval*) const { return "interval"; }
  std::string operator()(const PartOfRun*) const { return "steps or per cent"; }
  std::string operator()(const AutoInteger*) const { return "integer or auto"; }
  std::string operator()(const Choice& choice) const { return fmt::format("{}", fmt::join(choice.names, " | ")); }
};

struct Getter {
  Json operator()(const Choice& choice) const { return std::string(choice.get()); }
  Json operator()(const Interval* interval) const {
    return interval->unit == IntervalUnit::steps ? Json(interval->count) : Json(interval->text());
  }
  Json operator()(const PartOfRun* part) const {
    return part->per_cent ? Json(part->text()) : Json(static_cast<std::int64_t>(part->count));
  }
  Json operator()(const AutoInteger* member) const { return *member ? Json(**member) : Json("auto"); }
  template <class T>
  Json operator()(const T* member) const {
    return *member;
  }
};

class Setter {
 public:
  Setter(const ConfigKey& key, const Json& json, const std::string& where) : key_(key), json_(json), where_(where) {}

  void operator()(bool* member) const {
    if (!json_.is_boolean()) fail("true or false");
    *member = json_.get<bool>();
  }

  void operator()(std::int64_t* member) const { *member = integer("an integer"); }

  void operator()(double* member) const {
    *member = number(json_, key_.range, with_range("a number", key_.range, ", "));
  }

  void operator()(std::string* member) const {
    if (!json_.is_string()) fail("text");
    *member = json_.get<std::string>();
  }

  void operator()(std::vector<double>* member) const {
    const std::string wanted = with_range("a list of numbers", key_.range, ", each ");
    if (!json_.is_array()) fail(wanted);
    std::vector<double> values;
    for (const Json& element : json_) values.push_back(number(element, key_.range, wanted));
    *member = std::move(values);
  }

  /// One text may stand without a list around it.
  void operator()(std::vector<std::string>* member) const {
    const Json list = json_.is_array() ? json_ : Json::array({json_});
    const auto is_text = [](const Json& element) { return element.is_string(); };
    if (!std::all_of(list.begin(), list.end(), is_text)) fail("a text or a list of texts");
    *member = list.get<std::vector<std::string>>();
  }

  void operator()(Interval* member) const {
    const std::string wanted =
        with_range("a number of steps, or a text such as \"2 epochs\" or \"10 minutes\"", key_.range, ", ");
    if (json_.is_string()) {
      const auto interval = Interval::parse(json_.get<std::string>());
      if (!interval || !key_.range.contains(static_cast<double>(interval->count))) fail(wanted);
      *member = *interval;
    } else {
      const double steps = number(json_, key_.range, wanted);
      if (steps != std::trunc(steps)) fail(wanted);
      *member = Interval(static_cast<std::int64_t>(steps));
    }
  }

  void operator()(PartOfRun* member) const {
    const std::string wanted = with_range("a number of steps, or a text such as \"5 %\"", key_.range, ", ");
    if (!json_.is_string() && !json_.is_number()) fail(wanted);
    const auto part = PartOfRun::parse(json_.is_string() ? json_.get<std::string>() : json_.dump());
    if (!part || !key_.range.contains(part->count)) fail(wanted);
    *member = *part;
  }

  void operator()(AutoInteger* member) const {
    if (json_.is_string() && json_.get<std::string>() == "auto") {
      member->reset();
    } else {
      *member = integer("\"auto\" or an integer");
    }
  }

  void operator()(const Choice& choice) const {
    if (!json_.is_string()) fail(key_.type());
    const std::string text = json_.get<std::string>();
    const auto found = std::find(choice.names.begin(), choice.names.end(), text);
    if (found == choice.names.end()) fail(key_.type() + suggestion(text, choice));
    choice.set(static_cast<std::size_t>(found - choice.names.begin()));
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}: got {}, wanted {}", where_, key_.name, got(json_), wanted));
  }

  double number(const Json& json, const Range& range, const std::string& wanted) const {
    if (!json.is_number() || !range.contains(json.get<double>())) fail(wanted);
    return json.get<double>();
  }

  std::int64_t integer(const char* kind) const {
    Range range = key_.range;
    range.low = std::max(range.low, static_cast<double>(-kMaxInteger));
    range.high = std::min(range.high, static_cast<double>(kMaxInteger));
    const double value = number(json_, range, with_range(kind, range, ", "));
    if (value != std::trunc(value)) fail(with_range(kind, range, ", "));
    return static_cast<std::int64_t>(value);
  }

  static std::string suggestion(const std::string& text, const Choice& choice) {
    const std::string near = nearest(text, {choice.names.begin(), choice.names.end()});
    return near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
  }

  const ConfigKey& key_;
  const Json& json_;
  const std::string& where_;
};

}  // namespace

bool Range::contains(double value) const {
  return std::isfinite(value) && (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high && !low_open && !high_open) return fmt::format("{} to {}", low, high);
  std::string lower, upper;
  if (has_low) lower = low_open ? fmt::format("above {}", low) : fmt::format("{} or more", low);
  if (has_high) upper = high_open ? fmt::format("below {}", high) : fmt::format("at most {}", high);
  return lower + (has_low && has_high ? ", " : "") + upper;
}

std::string_view ConfigKey::section() const { return std::string_view(name).substr(0, name.find('.')); }

std::string_view ConfigKey::leaf() const { return std::string_view(name).substr(name.find('.') + 1); }

std::string ConfigKey::type() const { return std::visit(TypeName{}, value); }

Json ConfigKey::get() const { return std::visit(Getter{}, value); }

void ConfigKey::set(const Json& json, const std::string& where) const { std::visit(Setter(*this, json, where), value); }

const ConfigKey* KeyList::find(std::string_view name) const {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const ConfigKey& key) { return key.name == name; });
  return found == keys_.end() ? nullptr : &*found;
}

}  // namespace chargpt
