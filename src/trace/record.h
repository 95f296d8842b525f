// Recording a C++ function into a program.
#pragma once
#include <functional>

#include "core/builder.h"

namespace anadrome {

using ArrayFunction = std::function<Arrays(const Arrays&)>;

/// Calls `f` on fresh variables of the given types, nested in the function being recorded on this thread, if any.
/// `bound` holds the values the inputs stand for where they are known, so that item() works inside.
Recording record(std::string name, const ArrayFunction& f, std::span<const Type> inputs, Arrays bound = {});

}  // namespace anadrome
