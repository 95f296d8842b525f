// rewind_missed, verify_rewind: what a gradient that undoes steps does with the error it measures.
#include <cmath>
#include <cstring>
#include <sstream>

#include "primitives/checks.h"
#include "primitives/elementwise.h"
#include "primitives/rewind_report.h"

namespace anadrome {

RewindReport& rewind_report() {
  thread_local RewindReport report;
  return report;
}
RewindReport last_rewind() { return rewind_report(); }

namespace {

const Type error_type{DType::f32, {}, false}, count_type{DType::i32, {}, false};

std::string figure(double value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

void eval_verify(const EvalIn& in) {
  const auto& [anchors, predicted, tolerance, strict] = in.as<VerifyRewindAttr>();
  const double error = *static_cast<const float*>(in.x[0]);
  rewind_report() = {anchors, predicted.value, error, *static_cast<const std::int32_t*>(in.x[1])};
  if (strict && !std::isinf(tolerance.value) && !(error <= tolerance.value))
    throw RunError("reversible_scan: undoing the steps for the gradient did not lead back to where the loop began: the relative error is " +
                   figure(error) + ", predicted was at least " + figure(predicted.value) + ", the tolerance is " + figure(tolerance.value) +
                   ". Allow anchors (leave out .anchors, or give a number), set a larger .tolerance, or use scan.");
  if (in.y[0] != in.x[2]) std::memcpy(in.y[0], in.x[2], in.out[0].bytes());
}

/// The largest error of a batch.
Array of_all(const BatchIn& in, std::size_t i) { return in.batched(i) ? op::reduce_max(in.front(i), {0}) : in.x[i]; }

}  // namespace

// rewind_missed: one decision for a whole batch, so that a cond on it stays a cond.
constinit const Prim prim::rewind_missed = {
    .name = "rewind_missed",
    .type = [](const TypeIn& in) -> Types {
      if (in.x.size() != 1 || in.x[0] != error_type) refuse(in, "takes a relative error, a single f32.");
      return {count_type};
    },
    .eval =
        [](const EvalIn& in) {
          const double error = *static_cast<const float*>(in.x[0]);
          *static_cast<std::int32_t*>(in.y[0]) = error <= in.as<RewindMissedAttr>().tolerance.value ? 0 : 1;
        },
    .jvp = [](const JvpIn&) -> Arrays { return {Array()}; },
    .transpose = no_rule("its derivative is zero, so it never stands in a linear program"),
    .batch = [](const BatchIn& in) -> BatchOut { return {op::rewind_missed(of_all(in, 0), in.as<RewindMissedAttr>().tolerance.value), unbatched}; },
    .cost = cost_free};

// verify_rewind: the identity on its last operand; records the figures, and throws RunError where no rewind may miss.
constinit const Prim prim::verify_rewind = {
    .name = "verify_rewind",
    .type = [](const TypeIn& in) -> Types {
      if (in.x.size() != 3 || in.x[0] != error_type || in.x[1] != count_type)
        refuse(in, "takes a relative error (f32), a number of segments (i32), and an array.");
      return {in.x[2]};
    },
    .eval = eval_verify,
    .jvp = [](const JvpIn& in) -> Arrays { return {in.t[2]}; },
    .transpose = [](const TransposeIn& in) { in.acc[2]->add(in.ct[0]); },
    .batch = [](const BatchIn& in) -> BatchOut {
      return {op::verify_rewind(of_all(in, 0), of_all(in, 1), in.x[2], in.as<VerifyRewindAttr>()), in.axis[2]};
    },
    .cost = cost_free,
    .in_place = 2};

Array op::rewind_missed(const Array& error, double tolerance) {
  return bind1(prim::rewind_missed, {error}, RewindMissedAttr{{tolerance}});
}
Array op::verify_rewind(const Array& error, const Array& reruns, const Array& x, const VerifyRewindAttr& attr) {
  return bind1(prim::verify_rewind, {error, reruns, x}, attr);
}

}  // namespace anadrome
