#include "tests/fuzz/inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

namespace lw::fuzz {
namespace {

template <class T>
T random_integer(Random& random) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = std::numeric_limits<U>::digits;
  switch (random.below(6)) {
    case 0: {
      constexpr std::array<T, 10> kSpecial = {0,
                                              1,
                                              static_cast<T>(-1),
                                              std::numeric_limits<T>::min(),
                                              std::numeric_limits<T>::max(),
                                              std::numeric_limits<T>::min() + 1,
                                              std::numeric_limits<T>::max() - 1,
                                              kBits - 1,
                                              kBits,
                                              kBits + 1};
      return random.pick(kSpecial);
    }
    case 1: {  // a power of two or a neighbour
      const U power = static_cast<U>(U{1} << random.below(kBits));
      return static_cast<T>(power + static_cast<U>(random.between(-1, 1)));
    }
    case 2: {
      const U power = static_cast<U>(U{1} << random.below(kBits));
      return static_cast<T>(U{0} - power + static_cast<U>(random.between(-1, 1)));
    }
    case 3:
      return static_cast<T>(random.next());
    default:
      return static_cast<T>(random.between(-9, 12));
  }
}

template <class T, class U>
T random_float(Random& random) {
  constexpr int kFraction = std::numeric_limits<T>::digits - 1;
  constexpr U kSign = U{1} << (sizeof(U) * 8 - 1);
  constexpr U kQuiet = U{1} << (kFraction - 1);
  constexpr U kLowBits = (U{1} << kFraction) - 1;
  const U infinity = std::bit_cast<U>(std::numeric_limits<T>::infinity());
  const U sign = random.chance(50) ? kSign : 0;
  const U noise = static_cast<U>(random.next());
  switch (random.below(12)) {
    case 0: {  // NaN: canonical, quiet with a payload, signalling
      constexpr std::array<U, 3> kPayload = {kQuiet, kQuiet | 1, 1};
      return std::bit_cast<T>(
          static_cast<U>(sign | infinity | random.pick(kPayload) | (noise & kLowBits & ~kQuiet)));
    }
    case 1:
      return std::bit_cast<T>(sign);  // a zero
    case 2: {
      const std::array<U, 6> special = {infinity,
                                        infinity - 1,
                                        std::bit_cast<U>(std::numeric_limits<T>::min()),
                                        std::bit_cast<U>(std::numeric_limits<T>::epsilon()),
                                        1,
                                        kLowBits};
      return std::bit_cast<T>(static_cast<U>(sign | random.pick(special)));
    }
    case 3:
      return std::bit_cast<T>(static_cast<U>(sign | (noise & kLowBits)));  // subnormal
    case 4: {  // the borders of integer types and of exact integers, and neighbours
      constexpr std::array<int, 6> kPower = {24, 31, 32, 53, 63, 64};
      const U border = std::bit_cast<U>(std::ldexp(T{1}, random.pick(kPower)));
      return std::bit_cast<T>(
          static_cast<U>(sign | (border + static_cast<U>(random.between(-1, 1)))));
    }
    case 5: {  // a power of two
      const U power = std::bit_cast<U>(std::ldexp(T{1}, random.between(-70, 70)));
      return std::bit_cast<T>(
          static_cast<U>(sign | (power + static_cast<U>(random.between(-1, 1)))));
    }
    case 6:
      return std::bit_cast<T>(noise);
    case 7:
    case 8:
      return static_cast<T>(random.between(-9, 12));
    case 9:
      return static_cast<T>(random.between(-9, 9)) / 2;  // ties of rounding
    default:
      return static_cast<T>(random.between(-4000000, 4000000)) / T{1000000};
  }
}

}  // namespace

Scalar random_scalar(Random& random, DType type) {
  return types::with_type(type, [&]<class T>() -> Scalar {
    if constexpr (std::is_same_v<T, bool>) {
      return random.chance(50);
    } else if constexpr (std::is_integral_v<T>) {
      return random_integer<T>(random);
    } else if constexpr (types::is_half_type<T>) {
      if (random.chance(40)) return T::of_bits(static_cast<std::uint16_t>(random.next()));
      return T(random_float<float, std::uint32_t>(random));
    } else {
      return random_float<T, types::BitsOf<T>>(random);
    }
  });
}

std::vector<Scalar> Inputs::arguments(const ir::Function& function, std::int64_t i) const {
  std::vector<Scalar> result;
  for (std::size_t p = 0; p < values.size(); ++p) {
    const ir::Param& param = function.params[p];
    if (param.is_indexed()) continue;
    result.push_back(values[p][param.is_mapped() ? static_cast<std::size_t>(i) : 0]);
  }
  return result;
}

std::uint64_t Inputs::seed(const ir::Function& function) const {
  for (std::size_t p = 0; p < values.size(); ++p) {
    if (function.params[p].kind == ir::ParamKind::Seed) return values[p][0].bits();
  }
  return 0;
}

bool reads_numbers(const ir::Function& function) {
  bool found = false;
  ir::for_each(function,
               [&](ir::ValueId id, int) { found = found || function[id].op == ir::Op::Element; });
  return found;
}

namespace {

/// Where numbers begin: often so that the high word changes among the elements.
std::int64_t random_first(Random& random, std::int64_t count) {
  constexpr std::int64_t kHighWord = std::int64_t{1} << 32;
  switch (random.below(4)) {
    case 0:
      return kHighWord - random.between(1, static_cast<int>(count));
    case 1:
      return kHighWord * random.between(1, 1 << 20) - random.between(-9, 90);
    case 2:
      return random.between(1, 1 << 20);
    default:
      return 0;
  }
}

std::int64_t values_per_element(const ir::Param& param) { return param.is_row() ? param.size : 1; }

std::int64_t number_of_values(Random& random, const ir::Param& param, std::int64_t count) {
  const int most = random.chance(15) ? 300 : 40;  // of a table
  if (param.is_mapped()) return count * values_per_element(param);
  return param.is_table() ? random.between(1, random.chance(30) ? 4 : most) : 1;
}

std::vector<Scalar> random_list(Random& random, DType type, std::int64_t count) {
  std::vector<Scalar> list;
  for (; count > 0; --count) list.push_back(random_scalar(random, type));
  return list;
}

/// What stands at a ^ b is what stands at a, xor what stands at b; but at one place, or up to the
/// middle, at times.
void make_linear(Random& random, DType type, std::vector<Scalar>& table) {
  const int log = random.between(4, 8);
  std::vector<std::uint64_t> values = {0};
  for (int bit = 0; bit < log; ++bit) {
    const std::uint64_t added = random.next() >> 32;
    const std::size_t known = values.size();
    for (std::size_t i = 0; i < known; ++i) values.push_back(values[i] ^ added);
  }
  if (random.chance(25)) values[static_cast<std::size_t>(random.below(1 << log))] ^= 1;
  if (random.chance(10)) values.resize(static_cast<std::size_t>(random.between(1, 1 << log)));
  table.clear();
  for (const std::uint64_t value : values) table.push_back(Scalar::load(type, &value));
}

/// Rows one behind the other, in the order of the elements or, at times, in another one.
class RaggedInputs {
 public:
  RaggedInputs(const ir::Function& function, Random& random, Inputs& inputs)
      : function_(function), random_(random), inputs_(inputs) {
    const int usual = random.chance(70) ? 6 : kMostRagged;
    for (std::int64_t i = 0; i < inputs.count; ++i) {
      lengths_.push_back(random.between(0, random.chance(90) ? usual : kMostRagged));
      order_.push_back(static_cast<std::size_t>(i));
    }
  }

  void fill(int kind) {
    const std::size_t none = function_.params.size();
    if (place("start", kind) == none || place("stop", kind) == none) return;
    for (int& length : lengths_) {
      if (kind > 0 && random_.chance(3)) length = random_.between(0, kMostRagged);
    }
    if (random_.chance(20)) {
      for (std::size_t i = order_.size() - 1; i > 0; --i) {
        std::swap(order_[i], order_[static_cast<std::size_t>(random_.below(static_cast<int>(i)))]);
      }
    }
    auto& starts = inputs_.values[place("start", kind)];
    auto& stops = inputs_.values[place("stop", kind)];
    int total = 0;
    for (const std::size_t element : order_) {
      const DType type = starts[element].type();
      starts[element] = types::scalar_of(type, total);
      total += lengths_[element];
      stops[element] = types::scalar_of(type, total);
    }
    const std::string tables = fmt::format("values{}_", kind);
    for (std::size_t p = 0; p < function_.params.size(); ++p) {
      const ir::Param& param = function_.params[p];
      if (!param.name.starts_with(tables)) continue;
      inputs_.values[p] = random_list(random_, param.type, std::max(total, 1));
    }
  }

 private:
  std::size_t place(std::string_view name, int kind) const {
    const std::string wanted = fmt::format("{}{}", name, kind);
    std::size_t p = 0;
    const auto fits = [&](const ir::Param& param) {
      return param.name == wanted && param.is_mapped() && !param.is_row();
    };
    while (p < function_.params.size() && !fits(function_.params[p])) ++p;
    return p;
  }

  const ir::Function& function_;
  Random& random_;
  Inputs& inputs_;
  std::vector<int> lengths_;
  std::vector<std::size_t> order_;  // of rows
};

}  // namespace

Inputs make_inputs(const ir::Function& function, std::uint64_t seed, std::int64_t count) {
  Random random(seed ^ 0x696e70757473);
  Inputs inputs{.count = count, .first_element = random_first(random, count), .values = {}};
  for (const ir::Param& p : function.params) {
    auto& list =
        inputs.values.emplace_back(random_list(random, p.type, number_of_values(random, p, count)));
    if (p.is_table() && p.name == "bits") make_linear(random, p.type, list);
  }
  RaggedInputs ragged(function, random, inputs);
  for (const int kind : {0, 1}) ragged.fill(kind);
  return inputs;
}

Inputs subset(const ir::Function& function, const Inputs& inputs,
              std::span<const std::int64_t> elements) {
  Inputs result{.count = std::ssize(elements), .first_element = inputs.first_element, .values = {}};
  if (!elements.empty()) result.first_element += elements[0];
  for (std::size_t p = 0; p < inputs.values.size(); ++p) {
    auto& list = result.values.emplace_back();
    if (!function.params[p].is_mapped()) {
      list = inputs.values[p];
      continue;
    }
    const std::int64_t size = values_per_element(function.params[p]);
    for (const std::int64_t i : elements) {
      const auto first = inputs.values[p].begin() + i * size;
      list.insert(list.end(), first, first + size);
    }
  }
  return result;
}

std::string print_inputs(const ir::Function& function, const Inputs& inputs) {
  std::string text = fmt::format("# elements {}\n# first {}\n", inputs.count, inputs.first_element);
  for (std::size_t p = 0; p < inputs.values.size(); ++p) {
    text += fmt::format("# input {} {}:", p, types::name_of(function.params[p].type));
    for (const Scalar& value : inputs.values[p]) text += fmt::format(" {:x}", value.bits());
    text += '\n';
  }
  return text;
}

std::optional<Inputs> parse_inputs(const ir::Function& function, std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  Inputs inputs;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string hash, what, number, type, bits;
    words >> hash >> what >> number;
    if (hash != "#") continue;
    if (what == "elements") inputs.count = std::stoll(number);
    if (what == "first") inputs.first_element = std::stoll(number);
    if (what != "input") continue;
    words >> type;
    const std::size_t p = inputs.values.size();
    if (p >= function.params.size()) return std::nullopt;
    auto& list = inputs.values.emplace_back();
    while (words >> bits) {
      const std::uint64_t value = std::stoull(bits, nullptr, 16);
      list.push_back(Scalar::load(function.params[p].type, &value));
    }
    const ir::Param& param = function.params[p];
    const auto expected = param.is_mapped() ? inputs.count * values_per_element(param) : 1;
    const bool fits = param.is_table() ? !list.empty() : std::ssize(list) == expected;
    if (!fits) return std::nullopt;
  }
  if (inputs.count < 1 || inputs.values.size() != function.params.size()) return std::nullopt;
  return inputs;
}

}  // namespace lw::fuzz
