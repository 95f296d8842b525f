// Linearization: a program split into what is computed once and what is linear in the tangents.
#pragma once
#include "transforms/common.h"

namespace anadrome {

/// Where the value of a residual comes from: an argument or an output of the program, or an extra output of `primal`.
struct Residual {
  enum class From : std::uint8_t { argument, output, extra };
  From from;
  std::size_t index;
};

struct Linearized {
  /// Arguments to outputs, followed by the extra residuals.
  ProgramPtr primal;
  /// Captures: the residuals. Inputs: tangents of the active arguments. Outputs: tangents of the active outputs.
  ProgramPtr tangent;
  std::vector<Residual> residuals;
  Mask out_active;

  /// The residuals' values, from the arguments and the results of `primal`.
  Arrays residual_values(std::span<const Array> arguments, std::span<const Array> results) const;
  std::size_t extra_count() const;
};
/// The arguments and outputs of a program that cost their bytes as residuals; others are kept anyway. Empty: none.
struct Costly {
  Mask arguments, outputs;
};
/// Linearizes a closed program in its `active` arguments, keeping the residuals with the fewest bytes. Outputs marked in
/// `instantiate` (may be empty) are made active. Memoised. Source: "You Only Linearize Once" (Radul et al., 2022).
std::shared_ptr<const Linearized> linearize_program(const ProgramPtr& program, const Mask& active,
                                                    const Mask& instantiate = {}, const Costly& costly = {});

}  // namespace anadrome
