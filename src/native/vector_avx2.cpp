// The vector functions on 256 bits. Compiled for its instruction set alone; nothing here runs on other machines.
#include "native/vector_sources.h"

#if defined(__x86_64__)
#define ANADROME_VECTOR_BYTES 32
#include "native/vector_exports.h"
#endif

namespace anadrome {

std::span<const OwnFunction> own_functions_avx2() {
#if defined(__x86_64__)
  return own_functions;
#else
  return {};
#endif
}

}  // namespace anadrome
