// A ray and the nearest triangle it meets, by a tree of boxes.
#pragma once

#include <cstdint>

namespace lw::hand {

struct Vec {
  float x, y, z;
};

struct Ray {
  Vec origin;
  Vec direction;
};

/// A node has its box (least, then largest x, y, z) and either `count` triangles from `left` on, or
/// the children `left` and `left + 1`. A triangle is three corners.
struct Scene {
  const float* boxes;
  const int32_t* left;
  const int32_t* count;
  const float* triangles;
};

constexpr float kNoHit = 1e30F;

/// The distance along the ray, or kNoHit.
float nearest_hit(const Scene& scene, const Ray& ray);

}  // namespace lw::hand
