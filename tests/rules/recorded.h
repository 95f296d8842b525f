// Functions as closed programs, for rows of primitives that hold programs.
#pragma once
#include "core/builder.h"
#include "rules/table.h"
#include "transforms/common.h"

namespace anadrome::testing {

/// A function as a closed program, whose first inputs are what it captured.
struct Recorded {
  SubProgram program;
  Arrays captures;
  std::int64_t count() const { return static_cast<std::int64_t>(captures.size()); }
};
inline Recorded recorded(const Function& f, const Arrays& x) {
  const functional::Recorded r = functional::record_for_jit(f, x, {"body", {}, {}});
  return {{closed(r.program), r.program->sources}, r.captures};
}

}  // namespace anadrome::testing
