// Numbers of recorded values: item() under grad, vjp and jvp.
#pragma once
#include "core/builder.h"

namespace anadrome {

/// The concrete value of `a`. A recorded value is evaluated where the inputs of its function are known while recording;
/// otherwise throws TraceError that names `what`, the variable's type, its line, and the alternatives.
Array concrete_value(const Array& a, std::string_view what);

}  // namespace anadrome
