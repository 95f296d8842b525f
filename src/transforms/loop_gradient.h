// The derivative of one step of a loop, and what the gradients that have the states of a loop again share.
#pragma once
#include "transforms/reversible_scan.h"

namespace anadrome {

struct BackwardProgram;
struct Linearized;

Arrays concatenated(std::initializer_list<std::span<const Array>> lists);
/// The slices of stacks at a computed place.
Arrays slices_at(std::span<const Array> stacks, const Array& at);

/// Cotangents of the active carries, sums of those of the wanted constants, those of the slices.
class LoopGradient {
 public:
  explicit LoopGradient(const RewindTask& task);

 protected:
  /// The given cotangents of the carries, zeros for the others; then those of the slices.
  std::pair<Arrays, Arrays> cotangents(std::span<const Array> ct, std::span<const Array> x) const;
  /// Zeros for the sums.
  Arrays no_sums(std::span<const Array> consts) const;
  /// Cotangents by body input, at the inputs (constants, carries before the step, slices); those of constants are added to `sums`.
  Arrays derivative(std::span<const Array> inputs, std::span<const Array> ct, std::span<const Array> ct_ys, std::span<const Array> sums) const;
  /// Of them the new cotangents of the carries and the sums, then the cotangents of the slices.
  Arrays in_order(const Arrays& g, std::span<const Array> ct) const;
  /// The state after the steps from `begin` to `end`, numbered in their order; `xs` are the slices of `length` steps.
  Arrays advanced(std::span<const Array> consts, std::span<const Array> state, std::span<const Array> xs, const Array& begin, const Array& end,
                  std::int64_t length) const;
  /// The slice that step `number` of `length` reads.
  Array place(const Array& number, std::int64_t length) const;
  /// By wanted operand; `x` are the operands of the loop.
  Arrays results(std::span<const Array> ct, std::span<const Array> sums, std::span<const Array> ct_xs, std::span<const Array> x) const;

  const RewindTask& task_;
  ScanParts p_;
  std::shared_ptr<const Linearized> lin_;
  std::shared_ptr<const BackwardProgram> back_;
  std::size_t active_carries_ = 0;
  Mask reached_;  // by operand: wanted and not zero by structure
};

}  // namespace anadrome
