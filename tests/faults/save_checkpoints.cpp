// Saves as a training does, for tests that let system calls fail: save_checkpoints RUN FIRST LAST writes the
// checkpoints of these steps with what belongs to them, says "saved N" after each, and keeps two.

#include <fmt/format.h>

#include <cstdio>

#include "chargpt/base/run_folder.hpp"
#include "support/some_manifest.hpp"

namespace {

using namespace chargpt;

void save(const RunPaths& paths, std::int64_t step) {
  const float value = static_cast<float>(step);
  CheckpointWriter writer(paths.checkpoints(), step);
  Manifest manifest = some_manifest(step);
  for (const char* file : {kModelFileName, kOptimizerFileName}) {
    manifest.files[file] = write_safetensors(writer.path(file), {{"x", {1}, &value}}, {{"file", file}});
  }
  writer.commit(manifest);
  write_best(paths.checkpoints(), 1);
  prune_checkpoints(paths.checkpoints(), 2, 1);
}

void run(const RunPaths& paths, std::int64_t first, std::int64_t last) {
  MetricsLog metrics(paths.metrics(), first - 1);
  for (std::int64_t step = first; step <= last; ++step) {
    metrics.append({{"step", step}});
    save(paths, step);
    fmt::print("saved {}\n", step);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return static_cast<int>(ExitCode::usage);
  try {
    run(RunPaths(argv[1]), std::atoll(argv[2]), std::atoll(argv[3]));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
