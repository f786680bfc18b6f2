#include "tests/fuzz/tables.h"

#include <cstring>

namespace lw::fuzz {

std::vector<std::byte> pack(DType type, std::span<const Scalar> values) {
  const std::size_t size = types::size_of(type);
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].store(bytes.data() + i * size);
  return bytes;
}

Tables::Tables(const ir::Function& function, const Inputs& inputs, At at) {
  for (std::size_t p = 0; p < inputs.values.size(); ++p) {
    if (!function.params[p].is_table()) continue;
    const std::vector<std::byte> bytes = pack(function.params[p].type, inputs.values[p]);
    Guarded& memory = memory_.emplace_back(bytes.size());
    std::byte* data = at == At::End ? memory.last(bytes.size()) : memory.first();
    std::memcpy(data, bytes.data(), bytes.size());
    memory.allow_writing(false);
    list_.push_back({data, std::ssize(inputs.values[p])});
  }
}

}  // namespace lw::fuzz
