#pragma once

namespace chargpt {

// The files in report/, which CMake puts into the program.
extern const char* const kReportHtml;
extern const char* const kReportStyle;
extern const char* const kReportScript;

}  // namespace chargpt
