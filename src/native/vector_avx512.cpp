// The vector functions on 512 bits. Compiled for its instruction set alone; nothing here runs on other machines.
#include "native/vector_sources.h"

#if defined(__x86_64__)
#define ANADROME_VECTOR_BYTES 64
#include "native/vector_exports.h"
#endif

namespace anadrome {

std::span<const OwnFunction> own_functions_avx512() {
#if defined(__x86_64__)
  return own_functions;
#else
  return {};
#endif
}

}  // namespace anadrome
