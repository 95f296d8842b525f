// From a C++ function to a closed program, and from a program to results: run at once, or recorded.
#pragma once
#include "anadrome/detail/functional.h"
#include "trace/record.h"
#include "transforms/common.h"

namespace anadrome {

/// A recorded function made closed. Its arguments are `leading` (captures and lifted literals), then the inputs.
struct Prepared {
  ProgramPtr program;  // interned
  Arrays leading;
  std::shared_ptr<const SourceTable> sources;
  std::size_t inputs = 0;
  std::source_location source;  // the user's line of the last result, for errors

  /// leading, then x.
  Arrays arguments(const Arrays& x) const;
  /// A mask over arguments that is false for `leading`.
  Mask argument_mask(const functional::Mask& over_inputs) const;
};
/// Records `f`. Outside every recorded function, literals other than 0 and 1 and -1 become arguments, so that a program
/// whose numbers change is recognised and nothing is transformed or planned again. `bind`: item() may read the inputs.
Prepared prepare(const functional::Context& context, const functional::Function& f, const Arrays& x, bool bind);
Prepared prepare_types(const functional::Context& context, const functional::Function& f, std::span<const Type> types,
                       Arrays bound);

/// Runs a closed program outside every recorded function (compiled once, memoised); replays it inside.
Arrays apply(const ProgramPtr& program, const Arrays& arguments, const std::shared_ptr<const SourceTable>& sources);

/// Throws TypeError naming the leaf when an array is empty or cannot be used.
void check_values(const Arrays& x, const functional::Context& context);
/// The types of the arrays, checked.
std::vector<Type> checked_types(const Arrays& x, const functional::Context& context);
/// "argument 0: layers[1].w", or "argument 3" without names.
std::string leaf_name(const functional::Context& context, std::size_t i);
/// " at file:line" of the context.
std::string at(const functional::Context& context);

}  // namespace anadrome
