// Elements of the tables that are not what mathematics says.
#pragma once
#include <string>

#include "conformance/json_arrays.h"

namespace anadrome::conformance {

/// Result `index` of one part ("jvp", "vjp") of a case with its wrong elements put right.
Json with_corrections(const Json& array, const std::string& id, const std::string& part, std::size_t index);

}  // namespace anadrome::conformance
