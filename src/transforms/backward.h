// Reverse mode: transposition of a program that is linear in some arguments.
#pragma once
#include "transforms/common.h"

namespace anadrome {

/// Records the transpose of `program` in the current scope. `linear` marks the arguments it is linear in; `known` holds
/// the values of the others (entries of linear arguments are ignored); `wanted` marks the linear arguments whose
/// cotangent is asked for; `ct` is a cotangent per output (empty = zero). Returns a cotangent per argument: empty for
/// what was not wanted, or does not depend on any given cotangent. `start`, by argument or empty, are values that cotangents are
/// added to, in place where only a part is.
Arrays backward(const Program& program, const Mask& linear, const Mask& wanted, std::span<const Array> known,
                std::span<const Array> ct, std::span<const Array> start = {});

struct BackwardProgram {
  /// Inputs: the known arguments, then the cotangents of the outputs in `given`, then the values that those of arguments in
  /// `started` are added to. Outputs: the cotangents of the wanted
  /// arguments in `reached`.
  ProgramPtr program;
  Mask reached;  // by argument: wanted and not zero by structure
};
/// `backward` as a program of its own. Memoised.
std::shared_ptr<const BackwardProgram> backward_program(const ProgramPtr& program, const Mask& linear,
                                                        const Mask& wanted, const Mask& given, const Mask& started = {});

}  // namespace anadrome
