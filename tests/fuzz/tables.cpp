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
    const ir::Param& param = function.params[p];
    if (!param.is_indexed()) continue;
    const std::vector<std::byte> bytes = pack(param.type, inputs.values[p]);
    Guarded& memory = memory_.emplace_back(bytes.size());
    std::byte* data = at == At::End ? memory.last(bytes.size()) : memory.first();
    std::memcpy(data, bytes.data(), bytes.size());
    memory.allow_writing(false);
    all_.push_back({data, param.is_row() ? param.size : std::ssize(inputs.values[p])});
    strides_.push_back(param.is_row() ? param.item().bytes() : 0);
    if (param.is_table()) list_.push_back(all_.back());
  }
}

std::vector<types::Table> Tables::of_element(std::int64_t i) const {
  std::vector<types::Table> result = all_;
  for (std::size_t t = 0; t < result.size(); ++t) {
    result[t].data = static_cast<const std::byte*>(result[t].data) + i * strides_[t];
  }
  return result;
}

}  // namespace lw::fuzz
