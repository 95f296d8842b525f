// Bundle adjustment: the 2 x 15 Jacobian of each of 31,843 reprojection residuals, float64.
#include "workload.h"

namespace workloads {

using namespace anadrome;

namespace {

/// A camera is a rotation vector, a centre, the focal length, the principal point and two radial distortions.
Array residual(const Array& camera, const Array& point, const Array& weight, const Array& feature) {
  const Array r = camera[until(3)];
  const Array t = sqrt(sum(r * r));
  const Array axis = r / t, y = point - camera[slice(3, 6)];
  const Array q = y * cos(t) + cross(axis, y) * sin(t) + axis * dot(axis, y) * (1 - cos(t));
  const Array u = q[until(2)] / q[2];
  const Array r2 = sum(u * u);
  const Array radial = 1 + camera[9] * r2 + camera[10] * r2 * r2;
  return weight * (camera[6] * u * radial + camera[slice(7, 9)] - feature);
}

Figures bundle_adjustment(const Bench& bench) {
  constexpr Dim observations = 31'843;
  return bench.measure(
      vmap(jacrev<0, 1, 2>(residual)), {}, bench.input("camera", {observations, 11}, 0.3, 0, f64),
      bench.input("point", {observations, 3}, 0.3, 3, f64), bench.input("weight", {observations}, 1, 0, f64),
      bench.input("feature", {observations, 2}, 1, 0, f64));
}

}  // namespace

std::vector<Workload> bundles() {
  return {{"bundle_adjustment", bundle_adjustment}};
}

}  // namespace workloads
