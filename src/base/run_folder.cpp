#include "chargpt/base/run_folder.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>

#include "chargpt/base/event_file.hpp"
#include "chargpt/base/file.hpp"
#include "descriptor.hpp"

namespace chargpt {
namespace {

namespace fs = std::filesystem;

struct Holder {
  std::int64_t pid;
  std::string host;
  std::string started;
};

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string describe_this_process() {
  const std::string started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return to_json_line(Json{{"pid", ::getpid()}, {"host", host_name()}, {"started", started}}) + "\n";
}

std::optional<Holder> parse_holder(std::string_view text) {
  try {
    const Json json = parse_json(text, {.source = "lock"});
    return Holder{json.at("pid").get<std::int64_t>(), json.at("host").get<std::string>(),
                  json.at("started").get<std::string>()};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// What the lock file says, unless it still tells of a process that has ended: its new holder is just about to write.
std::optional<Holder> read_holder(const Descriptor& lock) {
  std::array<char, 4096> text;
  const ssize_t got = ::pread(lock.get(), text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  auto holder = parse_holder({text.data(), static_cast<std::size_t>(got)});
  const bool here = holder && holder->host == host_name();
  if (here && ::kill(static_cast<pid_t>(holder->pid), 0) != 0 && errno == ESRCH) return std::nullopt;
  return holder;
}

[[noreturn]] void report_locked(const std::string& folder, const std::optional<Holder>& holder) {
  const std::string who =
      holder ? fmt::format("process {} on host {} since {}", holder->pid, holder->host, holder->started)
             : "another process, which is just starting";
  throw Error(ExitCode::locked, fmt::format("{} is in use: {}; wait for it, or give another --out", folder, who));
}

/// A holder writes who it is right after it gets the lock; one that asks in between waits for that.
void acquire(const Descriptor& lock, const std::string& folder, const std::string& path) {
  std::optional<Holder> holder;
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (try_lock(lock, path)) return;
    holder = read_holder(lock);
    if (holder) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  report_locked(folder, holder);
}

/// A folder that this call made does not outlive a lock file that can't be created in it.
Descriptor open_lock(const std::string& folder, const std::string& path) {
  std::error_code ignored;
  const bool existed = fs::exists(folder, ignored);
  make_folders(folder);
  try {
    return open_output(path, O_RDWR);
  } catch (const Error&) {
    if (!existed) ::rmdir(folder.c_str());
    throw;
  }
}

/// A holder that never began a run removes the file that it locked, which this process may have opened before that.
bool is_current(const Descriptor& lock, const std::string& path) {
  struct stat held {
  }, named{};
  const bool known = ::fstat(lock.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0;
  return known && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Descriptor take_lock(const std::string& folder, const std::string& path) {
  while (true) {
    Descriptor lock = open_lock(folder, path);
    acquire(lock, folder, path);
    if (is_current(lock, path)) return lock;
  }
}

void truncate_to(const Descriptor& file, std::size_t size, const std::string& path) {
  if (::ftruncate(file.get(), static_cast<off_t>(size)) == 0) return;
  throw Error(ExitCode::io, fmt::format("cannot cut {} to {} bytes: {}", path, size, reason(errno)));
}

/// What a line of the metrics is to a run that goes on.
struct RecordKind {
  std::int64_t step;  ///< -1 if it has none
  bool end;           ///< tells of the run's end, which was none then
};

/// Nothing if the line is no record.
std::optional<RecordKind> kind_of_record(std::string_view line) {
  try {
    const Json record = parse_json(line, {.source = "record"});
    if (!record.is_object()) return std::nullopt;
    const auto step = record.find("step");
    const bool has_step = step != record.end() && step->is_number_integer();
    return RecordKind{has_step ? step->get<std::int64_t>() : -1, record.value("event", Json()) == "end"};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Bytes of the records before the first one of a step above `last_step` or of a run's end. A last line that is no
/// record is left out too.
std::size_t kept_bytes(std::string_view text, std::int64_t last_step) {
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    const auto record = kind_of_record(text.substr(begin, end - begin));
    const bool is_last = end + 1 == text.size();
    if (record ? record->step > last_step || record->end : is_last) return begin;
    begin = end + 1;
  }
  return begin;
}

}  // namespace

void remove_run(const RunPaths& paths) {
  std::error_code problem;
  for (const std::int64_t step : list_checkpoints(paths.checkpoints())) fs::remove_all(paths.checkpoint(step), problem);
  remove_event_files(paths.tensorboard());
  // The config last: as long as it is there, the folder is a run, and can be removed again.
  for (const std::string& path : {paths.checkpoints() + "/best", paths.metrics(), paths.log(), paths.config()}) {
    if (!problem) fs::remove(path, problem);
  }
  if (problem)
    throw Error(ExitCode::io, fmt::format("cannot remove the old run in {}: {}", paths.root, problem.message()));
}

bool is_run_folder(const std::string& folder) {
  std::error_code ignored;
  return fs::is_regular_file(RunPaths(folder).config(), ignored);
}

RunLock::RunLock(const std::string& run_folder) : descriptor_(-1) {
  const std::string path = RunPaths(run_folder).lock();
  Descriptor lock = take_lock(run_folder, path);
  truncate_to(lock, 0, path);
  write_all(lock.get(), describe_this_process(), path);
  descriptor_ = lock.release();
  remove_leftovers(run_folder, {".tmp-config.json-"});
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

MetricsLog::MetricsLog(std::string path, std::int64_t last_step, Observer appended)
    : path_(std::move(path)), appended_(std::move(appended)), descriptor_(-1) {
  Descriptor file = open_output(path_, O_WRONLY | O_APPEND);
  truncate_to(file, kept_bytes(read_file(path_), last_step), path_);
  descriptor_ = file.release();
}

MetricsLog::~MetricsLog() { ::close(descriptor_); }

void MetricsLog::append(const Json& record) {
  Json line = {{"v", 1}};
  line.update(record);
  write_all(descriptor_, to_json_line(line) + "\n", path_);
  if (appended_) appended_(line);
}

}  // namespace chargpt
