#include "chargpt/base/unnamed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "descriptor.hpp"

namespace chargpt {

UnnamedFile::UnnamedFile(const std::string& folder, std::string name) : name_(std::move(name)) {
  std::string path = folder + "/.tmp-XXXXXX";
  file_ = std::make_shared<const Descriptor>(::mkostemp(path.data(), O_CLOEXEC));
  const int error = errno;
  if (file_->get() < 0) {
    throw Error(creation_fault(error), fmt::format("cannot write {}: {}", name_, reason(error)));
  }
  ::unlink(path.c_str());
}

FileWriter UnnamedFile::writer() const { return {copied_descriptor(), name_}; }

FileReader UnnamedFile::reader() const { return {copied_descriptor(), name_}; }

int UnnamedFile::copied_descriptor() const {
  const int copy = ::fcntl(file_->get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw Error(ExitCode::io, fmt::format("cannot open {}: {}", name_, reason(errno)));
  return copy;
}

}  // namespace chargpt
