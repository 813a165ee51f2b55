#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace chargpt {

/// Calls `check(what)` for a file with each of its bits flipped, and cut to each shorter length; restores the file.
/// In place, since emptying a file that has contents makes some file systems wait for the disk.
template <typename Check>
void with_every_damage(const std::string& path, const std::string& sound, Check check) {
  const auto poke = [&](std::size_t at, char byte) {
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(at))
        .put(byte);
  };
  for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    poke(bit / 8, static_cast<char>(sound[bit / 8] ^ (1 << bit % 8)));
    check(path + ", bit " + std::to_string(bit));
    poke(bit / 8, sound[bit / 8]);
  }
  for (std::size_t length = sound.size(); length-- > 0;) {
    std::filesystem::resize_file(path, length);
    check(path + ", length " + std::to_string(length));
  }
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << sound;
}

}  // namespace chargpt
