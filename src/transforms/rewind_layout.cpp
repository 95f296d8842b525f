// Where a reversible scan keeps states, and the loops that keep them.
#include <algorithm>
#include <cmath>

#include "transforms/invert.h"
#include "transforms/reversible_scan.h"

namespace anadrome {
namespace {

/// The largest rounding error among the dtypes of the carries.
double rounding(const ScanParts& p, const std::vector<Type>& types) {
  double out = 0;
  for (std::size_t k = p.consts; k < p.slices(); ++k) {
    if (!is_float(types[k].dtype)) continue;
    const int digits = types[k].dtype == DType::f64 ? 53 : types[k].dtype == DType::f32 ? 24 : types[k].dtype == DType::f16 ? 11 : 8;
    out = std::max(out, std::ldexp(1.0, 1 - digits));
  }
  return out;
}

/// The most steps whose predicted error stays well below the tolerance: the steepness of the body is not in the prediction.
double most_steps(double eps, double amplification, double tolerance) {
  constexpr double margin = 0.1;
  if (eps > margin * tolerance) return 1;
  if (amplification <= 1) return HUGE_VAL;
  return std::max(1.0, std::floor(std::log(margin * tolerance / eps) / std::log(amplification)));
}

/// A divisor of `length` near `wanted` and not above it, or 0.
std::int64_t even_segment(std::int64_t length, std::int64_t wanted) {
  for (std::int64_t d = wanted; 2 * d > wanted; --d)
    if (length % d == 0) return d;
  return 0;
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::shared_ptr<const InverseProgram> inverse_body(const ScanParts& p, const std::string& name) {
  Mask unknown(p.operands, 0), given(p.results, 0);
  for (std::size_t k = 0; k < p.carries; ++k) unknown[p.consts + k] = given[k] = 1;
  return invert_program(p.attr.body, unknown, given, name);
}

RewindLayout rewind_layout(const Equation& loop, const std::vector<Type>& types, std::int64_t anchors, double tolerance) {
  const ScanParts p(loop);
  const std::int64_t n = p.attr.length;
  const double amplification = inverse_body(p, "reversible_scan")->amplification, eps = rounding(p, types);
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  std::int64_t steps = n;
  if (anchors > 0) steps = divided_up(n, anchors + 1);
  if (anchors < 0) steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(static_cast<double>(root), most_steps(eps, amplification, tolerance))));
  RewindLayout out{n, n, 0, 0};
  const bool slices = p.slices() < p.operands;
  const std::int64_t even = slices && anchors < 0 && steps < n ? even_segment(n, steps) : 0;
  if (even) out = {0, even, n / even, 0};
  else if (steps < n) out = {n - steps * (divided_up(n, steps) - 1), steps, divided_up(n, steps) - 1, 0};
  out.predicted = eps * std::pow(amplification, static_cast<double>(std::max(out.first, out.segment)));
  return out;
}

Array stack_part(const Array& stack, std::int64_t begin, std::int64_t end) {
  Ints start, limit, ones;
  for (std::int64_t d : stack.shape()) start.push_back(0), limit.push_back(d), ones.push_back(1);
  start[0] = begin;
  limit[0] = end;
  return op::slice(stack, start, limit, ones);
}
Array in_segments(const Array& stack, std::int64_t length) {
  Shape shape = stack.shape();
  const std::int64_t n = shape[0] / length;
  shape[0] = length;
  shape.insert(0, n);
  return op::reshape(stack, shape);
}
Array out_of_segments(const Array& stack) {
  Shape shape = stack.shape();
  shape[1] *= shape[0];
  shape.erase(0);
  return op::reshape(stack, shape);
}

namespace {

/// `steps` steps of a loop, as a scan on these operands.
Arrays steps_of(const ScanParts& p, std::int64_t steps, std::span<const Array> x) {
  ScanAttr attr = p.attr;
  attr.length = steps;
  return op::scan(attr, x);
}

/// The scan over segments: a step runs one of them, and gives the carries that it comes to beside its stacks.
ProgramPtr segment_program(const ScanParts& p, const RewindLayout& layout, std::span<const Array> operands) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < operands.size(); ++i) types.push_back(i < p.slices() ? operands[i].type() : slice_of(operands[i].type()));
  return build_program("segment", types, p.attr.body.sources, [&](const Arrays& x) {
    Arrays y = steps_of(p, layout.segment, x);
    const Arrays ends(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(p.carries));
    append(y, ends);
    return y;
  });
}

}  // namespace

Arrays run_and_keep(const ScanParts& p, const RewindLayout& layout, std::span<const Array> x) {
  if (layout.segments == 0) {
    Arrays r = steps_of(p, p.attr.length, x);
    const Arrays ends(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.carries));
    append(r, ends);
    return r;
  }
  const std::int64_t n = p.attr.length, first = layout.first;
  const bool reverse = p.attr.reverse;
  Arrays operands(x.begin(), x.end()), begun;
  if (first > 0) {
    Arrays head(x.begin(), x.end());
    for (std::size_t i = p.slices(); i < p.operands; ++i) {
      head[i] = stack_part(x[i], reverse ? n - first : 0, reverse ? n : first);
      operands[i] = stack_part(x[i], reverse ? 0 : first, reverse ? n - first : n);
    }
    begun = steps_of(p, first, head);
    std::copy_n(begun.begin(), p.carries, operands.begin() + static_cast<std::ptrdiff_t>(p.consts));
  }
  for (std::size_t i = p.slices(); i < p.operands; ++i) operands[i] = in_segments(operands[i], layout.segment);
  ScanAttr attr = scan_attributes(p.attr, segment_program(p, layout, operands), p.consts, p.carries);
  attr.length = layout.segments;
  Arrays r = op::scan(attr, operands);
  for (std::size_t k = p.carries; k < p.results; ++k) {
    r[k] = out_of_segments(r[k]);
    if (first > 0) r[k] = reverse ? op::concatenate(Arrays{r[k], begun[k]}, 0) : op::concatenate(Arrays{begun[k], r[k]}, 0);
  }
  append(r, part(begun, 0, begun.empty() ? 0 : p.carries));
  return r;
}

}  // namespace anadrome
