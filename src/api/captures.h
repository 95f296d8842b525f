// Several recordings on one list of captures.
#pragma once
#include "core/builder.h"

namespace anadrome {

struct SharedCaptures {
  Arrays captures;
  std::vector<SubProgram> programs;  // closed: all captures, then their own inputs
};
/// Makes every program take what any of them captures.
SharedCaptures with_shared_captures(const std::vector<Recording>& recordings);

}  // namespace anadrome
