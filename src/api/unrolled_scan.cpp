#include "api/unrolled_scan.h"

#include <algorithm>

#include "transforms/common.h"

namespace anadrome {
namespace {

std::size_t slices(const ScanAttr& a) { return static_cast<std::size_t>(a.consts + a.carries); }

/// The rows [from, to) along axis 0.
Array rows(const Array& x, std::int64_t from, std::int64_t to) {
  Ints start, limit, strides;
  for (int k = 0; k < x.rank(); ++k) {
    start.push_back(k == 0 ? from : 0);
    limit.push_back(k == 0 ? to : x.shape()[static_cast<std::size_t>(k)]);
    strides.push_back(1);
  }
  return op::slice(x, start, limit, strides);
}
Array row(const Array& x, std::int64_t at) {
  Shape shape = x.shape();
  shape.erase(0);
  return op::reshape(rows(x, at, at + 1), shape);
}

/// The body written out: it takes `times` rows of each array at once and gives as many.
ProgramPtr written_out(const ScanAttr& a, const Arrays& operands, std::int64_t times) {
  std::vector<Type> types;
  for (const Array& x : operands) {
    types.push_back(x.type());
    if (types.size() > slices(a)) types.back().shape[0] = times;
  }
  return build_program("scan", types, a.body.sources, [&](const Arrays& in) {
    Arrays x = in;
    std::vector<Arrays> made(a.body->outputs.size() - static_cast<std::size_t>(a.carries), Arrays(static_cast<std::size_t>(times)));
    for (std::int64_t step = 0; step < times; ++step) {
      const std::int64_t at = a.reverse ? times - 1 - step : step;
      for (std::size_t i = slices(a); i < in.size(); ++i) x[i] = row(in[i], at);
      const Arrays y = inline_program(*a.body, {}, x, a.body.sources.get());
      std::copy_n(y.begin(), a.carries, x.begin() + a.consts);
      for (std::size_t k = 0; k < made.size(); ++k)
        made[k][static_cast<std::size_t>(at)] = op::broadcast_axis(y[static_cast<std::size_t>(a.carries) + k], 0, 1);
    }
    Arrays out(x.begin() + a.consts, x.begin() + a.consts + a.carries);
    for (const Arrays& m : made) out.push_back(op::concatenate(m, 0));
    return out;
  });
}

/// Rows [n * times] as n groups of `times`, and back.
Array grouped(const Array& x, std::int64_t times) {
  Shape shape = x.shape();
  shape.insert(0, shape[0] / times);
  shape[1] = times;
  return op::reshape(x, shape);
}
Array flattened(const Array& x) {
  Shape shape = x.shape();
  shape[1] = shape[0] * shape[1];
  shape.erase(0);
  return op::reshape(x, shape);
}

}  // namespace

Arrays unrolled_scan(const ScanAttr& scan, const Arrays& operands, std::int64_t times) {
  times = std::min(times, scan.length);
  if (times <= 1) return op::scan(scan, operands);
  const std::int64_t rest = scan.length % times, whole = scan.length - rest;
  const std::int64_t begin = scan.reverse ? rest : 0;  // the rows of the steps that come first
  const auto carries = static_cast<std::size_t>(scan.carries);
  Arrays x(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(slices(scan)));
  for (std::size_t i = slices(scan); i < operands.size(); ++i) x.push_back(grouped(rows(operands[i], begin, begin + whole), times));
  ScanAttr groups = scan, single = scan;
  groups.body.program = written_out(scan, operands, times);
  groups.length = whole / times;
  single.length = rest;
  Arrays y = op::scan(groups, x);
  for (std::size_t k = carries; k < y.size(); ++k) y[k] = flattened(y[k]);
  if (rest == 0) return y;
  std::copy_n(y.begin(), carries, x.begin() + scan.consts);
  const std::int64_t left = scan.reverse ? 0 : whole;
  for (std::size_t i = slices(scan); i < operands.size(); ++i) x[i] = rows(operands[i], left, left + rest);
  const Arrays z = op::scan(single, x);
  std::copy_n(z.begin(), carries, y.begin());
  for (std::size_t k = carries; k < y.size(); ++k) y[k] = op::concatenate(scan.reverse ? Arrays{z[k], y[k]} : Arrays{y[k], z[k]}, 0);
  return y;
}

}  // namespace anadrome
