// concatenate: arrays put one after the other along an axis.
#include <cstring>

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_concatenate(const TypeIn& in) {
  if (in.x.empty()) refuse(in, "no parts. Give at least one array.");
  refuse_complex(in);
  require_one_dtype(in, 0, in.x.size());
  const std::int64_t axis = in.as<AxisAttr>().axis;
  Type y = in.x[0];
  if (axis < 0 || axis >= y.rank())
    refuse(in, "axis " + std::to_string(axis) + " of parts like " + to_string(y) +
                   ". It must be one of their axes.");
  for (std::size_t i = 1; i < in.x.size(); ++i) {
    const Type& part = in.x[i];
    if (part.rank() != y.rank())
      refuse(in, "part 0 has " + std::to_string(y.rank()) + " axes, part " + std::to_string(i) + " has " +
                     std::to_string(part.rank()) + " (" + to_string(in.x[0]) + ", " + to_string(part) +
                     "); parts must have the same number of axes.");
    for (int k = 0; k < y.rank(); ++k)
      if (k != axis && part.shape[k] != y.shape[k])
        refuse(in, "axis " + std::to_string(k) + " of part 0 has " + std::to_string(y.shape[k]) +
                       ", of part " + std::to_string(i) + " has " + std::to_string(part.shape[k]) + " (" +
                       to_string(in.x[0]) + ", " + to_string(part) +
                       "); parts must agree on all other axes.");
    y.shape[axis] += part.shape[axis];
  }
  return {y};
}

void eval_concatenate(const EvalIn& in) {
  const std::int64_t axis = in.as<AxisAttr>().axis;
  const Type& y = in.out[0];
  std::int64_t rows = 1;
  for (int k = 0; k < axis; ++k) rows *= y.shape[k];
  if (y.elements() == 0) return;
  const std::size_t row = y.bytes() / static_cast<std::size_t>(rows);
  char* to = static_cast<char*>(in.y[0]);
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    const std::size_t piece = in.in[i].bytes() / static_cast<std::size_t>(rows);
    const char* from = static_cast<const char*>(in.x[i]);
    for (std::int64_t r = 0; r < rows && piece > 0; ++r)
      std::memcpy(to + static_cast<std::size_t>(r) * row, from + static_cast<std::size_t>(r) * piece, piece);
    to += piece;
  }
}

void transpose_concatenate(const TransposeIn& in) {
  const std::int64_t axis = in.as<AxisAttr>().axis;
  Ints start(in.out[0].shape), ones(in.out[0].shape);
  for (int k = 0; k < start.rank(); ++k) start[k] = 0, ones[k] = 1;
  for (std::size_t i = 0; i < in.acc.size(); ++i) {
    Ints limit = in.out[0].shape;
    limit[axis] = start[axis] + in.in[i].shape[axis];
    if (in.wants(i)) in.acc[i]->add(op::slice(in.ct[0], start, limit, ones));
    start[axis] = limit[axis];
  }
}

}  // namespace

constinit const Prim prim::concatenate = {.name = "concatenate",
                                          .work = Work::movement,
                                          .type = type_concatenate,
                                          .eval = eval_concatenate,
                                          .jvp = [](const JvpIn& in) -> Arrays {
                                            Arrays parts;
                                            for (std::size_t i = 0; i < in.t.size(); ++i)
                                              parts.push_back(in.dense(i));
                                            return {op::concatenate(parts, in.as<AxisAttr>().axis)};
                                          },
                                          .transpose = transpose_concatenate,
                                          .batch = [](const BatchIn& in) -> BatchOut {
                                            Arrays parts;
                                            for (std::size_t i = 0; i < in.x.size(); ++i)
                                              parts.push_back(in.front_dense(i));
                                            return {op::concatenate(parts, in.as<AxisAttr>().axis + 1), 0};
                                          },
                                          .cost = cost_free};

Array op::concatenate(std::span<const Array> parts, std::int64_t axis) {
  if (parts.size() == 1 && axis >= 0 && axis < parts[0].rank()) return parts[0];
  return bind1(prim::concatenate, parts, AxisAttr{axis});
}

}  // namespace anadrome
