// Arrays inside of other data: an image's colours and a member of structs, read and written in
// place without a copy.
#include <lanewise/lanewise.h>

#include <cstdint>
#include <cstdio>

namespace {

struct Body {
  char name[8];
  double mass, speed, energy;
};

}  // namespace

int main() {
  // Pixels are red, green, blue: each colour is an array of its own, with stride 3.
  constexpr int kPixels = 6;
  const std::uint8_t image[3 * kPixels] = {255, 0,   0,   0,  255, 0, 0,   0,   255,
                                           255, 255, 255, 64, 64,  0, 200, 100, 50};
  const auto colour = [&](int which) {
    return lw::Strided<const std::uint8_t>{image + which, kPixels, 3};
  };
  const lw::Tensor grey = lw::map(
      [](lw::u8 red, lw::u8 green, lw::u8 blue) {
        lw::f32 sum = 0.299f * lw::cast<float>(red) + 0.587f * lw::cast<float>(green) +
                      0.114f * lw::cast<float>(blue);
        return lw::cast<std::uint8_t>(round(sum));
      },
      colour(0), colour(1), colour(2));
  std::printf("grey:");
  for (const int value : grey.span<std::uint8_t>()) std::printf(" %d", value);

  // Members of structs: the distance is a whole struct.
  Body bodies[] = {{"dust", 1e-6, 200, 0}, {"ball", 0.4, 30, 0}, {"train", 4e5, 60, 0}};
  constexpr auto kStride = static_cast<std::int64_t>(sizeof(Body));
  const auto member = [&](double Body::* m) {
    return lw::Input(lw::DType::F64, &(bodies[0].*m), 3, kStride);
  };
  lw::map_into(
      lw::Output(lw::DType::F64, &bodies[0].energy, 3, kStride),
      [](lw::f64 mass, lw::f64 speed) { return mass * speed * speed / 2; }, member(&Body::mass),
      member(&Body::speed));
  std::printf("\n");
  for (const Body& body : bodies) std::printf("%-5s %.6g J\n", body.name, body.energy);
}
