#include "tests/fuzz/tables.h"

#include <fmt/core.h>

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
    if (param.is_target()) {
      const auto number = static_cast<std::uint32_t>(p);
      targets_.push_back({number, param.type, data, inputs.values[p]});
    } else {
      memory.allow_writing(false);
    }
    all_.push_back({data, param.is_row() ? param.size : std::ssize(inputs.values[p])});
    strides_.push_back(param.is_row() ? param.item().bytes() : 0);
    if (param.is_table()) list_.push_back(all_.back());
  }
}

void Tables::reset_targets() const {
  for (const Target& target : targets_) {
    const std::vector<std::byte> bytes = pack(target.type, target.first);
    std::memcpy(target.data, bytes.data(), bytes.size());
  }
}

std::string Tables::mismatch(std::span<const ir::Evaluation> truth) const {
  for (const Target& target : targets_) {
    std::vector<Scalar> expected = target.first;
    for (const ir::Evaluation& one : truth) {
      const auto written = one.written.find(target.parameter);
      if (written == one.written.end()) continue;
      for (const auto& [place, value] : written->second) {
        expected[static_cast<std::size_t>(place)] = value;
      }
    }
    const std::size_t size = types::size_of(target.type);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Scalar got = Scalar::load(target.type, target.data + i * size);
      if (got.canonical() == expected[i].canonical()) continue;
      return fmt::format("place {} of target {}: expected {}, got {}", i, target.parameter,
                         types::to_string(expected[i]), types::to_string(got));
    }
  }
  return {};
}

void by_parameter(const ir::Function& function, ir::Evaluation& evaluation) {
  decltype(evaluation.written) written;
  for (auto& [target, places] : evaluation.written) {
    written[function[target].index] = std::move(places);
  }
  evaluation.written = std::move(written);
}

std::vector<types::Table> Tables::of_element(std::int64_t i) const {
  std::vector<types::Table> result = all_;
  for (std::size_t t = 0; t < result.size(); ++t) {
    result[t].data = static_cast<const std::byte*>(result[t].data) + i * strides_[t];
  }
  return result;
}

}  // namespace lw::fuzz
