#include "chargpt/sampling/stop_texts.hpp"

#include <algorithm>

namespace chargpt {

StopTexts::StopTexts(const std::vector<std::vector<std::int32_t>>& texts) {
  for (const auto& ids : texts) {
    Text text{ids, {0, 0}};
    std::size_t border = 0;
    for (std::size_t n = 1; n < ids.size(); ++n) {
      while (border > 0 && ids[n] != ids[border]) border = text.border[border];
      border += ids[n] == ids[border] ? 1 : 0;
      text.border.push_back(border);
    }
    texts_.push_back(std::move(text));
  }
}

void StopTexts::advance(Text& text, std::int32_t id) {
  while (text.matched > 0 && text.ids[text.matched] != id) text.matched = text.border[text.matched];
  text.matched += text.ids[text.matched] == id ? 1 : 0;
}

bool StopTexts::ends_with(std::int32_t id) {
  held_ = 0;
  std::size_t ended = 0;
  for (Text& text : texts_) {
    advance(text, id);
    held_ = std::max(held_, text.matched);
    if (text.matched == text.ids.size()) ended = std::max(ended, text.matched);
  }
  if (ended > 0) held_ = ended;
  return ended > 0;
}

}  // namespace chargpt
