#include "scalar_ray.h"

#include <algorithm>

namespace lw::hand {
namespace {

Vec at(const float* p) { return {p[0], p[1], p[2]}; }
Vec operator-(Vec p, Vec q) { return {p.x - q.x, p.y - q.y, p.z - q.z}; }
Vec operator*(Vec p, Vec q) { return {p.x * q.x, p.y * q.y, p.z * q.z}; }
float dot(Vec p, Vec q) { return p.x * q.x + p.y * q.y + p.z * q.z; }
Vec cross(Vec p, Vec q) {
  return {p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x};
}

/// Whether the ray is inside the box somewhere between 0 and `best`.
bool meets_box(const float* box, Vec origin, Vec inverse, float best) {
  const Vec low = (at(box) - origin) * inverse;
  const Vec high = (at(box + 3) - origin) * inverse;
  const float enter = std::max(std::max(std::min(low.x, high.x), std::min(low.y, high.y)),
                               std::max(std::min(low.z, high.z), 0.0F));
  const float leave = std::min(std::min(std::max(low.x, high.x), std::max(low.y, high.y)),
                               std::min(std::max(low.z, high.z), best));
  return enter <= leave;
}

/// Möller and Trumbore: the distance to the triangle, or `best` if that is nearer.
float meet_triangle(const float* corners, const Ray& ray, float best) {
  const Vec corner = at(corners);
  const Vec edge1 = at(corners + 3) - corner;
  const Vec edge2 = at(corners + 6) - corner;
  const Vec p = cross(ray.direction, edge2);
  const float inverse = 1 / dot(edge1, p);
  const Vec offset = ray.origin - corner;
  const float u = dot(offset, p) * inverse;
  if (!(u >= 0 && u <= 1)) return best;
  const Vec q = cross(offset, edge1);
  const float v = dot(ray.direction, q) * inverse;
  if (!(v >= 0 && u + v <= 1)) return best;
  const float t = dot(edge2, q) * inverse;
  return t > 1e-4F && t < best ? t : best;
}

}  // namespace

float nearest_hit(const Scene& scene, const Ray& ray) {
  const Vec inverse = {1 / ray.direction.x, 1 / ray.direction.y, 1 / ray.direction.z};
  int32_t stack[32] = {0};
  float best = kNoHit;
  for (int depth = 1; depth > 0;) {
    const int32_t node = stack[--depth];
    if (!meets_box(scene.boxes + node * 6, ray.origin, inverse, best)) continue;
    const int32_t left = scene.left[node];
    const int32_t count = scene.count[node];
    for (int32_t i = left; i < left + count; ++i) {
      best = meet_triangle(scene.triangles + i * 9, ray, best);
    }
    if (count > 0) continue;
    stack[depth++] = left + 1;
    stack[depth++] = left;
  }
  return best;
}

}  // namespace lw::hand
