#pragma once

#include <memory>
#include <string>

#include "chargpt/base/file.hpp"
#include "chargpt/base/file_reader.hpp"

namespace chargpt {

class Descriptor;

/// A file that has no name: what is in it is gone when the last of its readers and writers is, also where a process is
/// killed.
class UnnamedFile {
 public:
  /// In a folder that is there. Messages call it `name`. Errors: cannot_create, io.
  UnnamedFile(const std::string& folder, std::string name);

  FileWriter writer() const;  ///< what it writes goes behind what was written
  FileReader reader() const;

 private:
  int copied_descriptor() const;

  std::string name_;
  std::shared_ptr<const Descriptor> file_;
};

}  // namespace chargpt
