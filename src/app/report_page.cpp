#include "chargpt/app/report_page.hpp"

#include "report_files.hpp"

namespace chargpt {
namespace {

/// JSON that can stand inside <script>: "</script>" and "<!--" are the only texts that it could be left by.
std::string embeddable(const Json& data) {
  std::string safe;
  for (const char c : to_json_line(data)) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return safe;
}

/// Puts a text in the place of `{{name}}`.
void fill(std::string& page, const std::string& name, const std::string& text) {
  const std::string mark = "{{" + name + "}}";
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string report_page(const Json& data) {
  std::string page = kReportHtml;
  fill(page, "style", kReportStyle);
  fill(page, "script", kReportScript);
  fill(page, "data", embeddable(data));  // last: nothing is looked for behind untrusted text
  return page;
}

}  // namespace chargpt
