// How much memory of this process holds machine code that was made in it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace lw::test {

/// Bytes of executable pages that belong to no file.
inline std::size_t anonymous_code_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char rights[5] = {};
    char offset[20] = {};
    char device[20] = {};
    std::uint64_t inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %19s %19s %lu", &begin, &end, rights, offset, device,
                    &inode) == 6 &&
        rights[2] == 'x' && inode == 0) {
      bytes += end - begin;
    }
  }
  return bytes;
}

}  // namespace lw::test
