// The heap of the program test_native, counted.
#pragma once
#include <cstdint>

namespace anadrome::testing {

/// Bytes asked for from operator new so far, by all threads. Always 0 under the sanitizers, which have their own.
std::int64_t heap_bytes();

}  // namespace anadrome::testing
