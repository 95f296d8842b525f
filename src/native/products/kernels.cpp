// Which kernels this machine runs.
#include "native/products/kernels.h"

namespace anadrome::products {
namespace {

struct Available {
  const KernelSet* sets[4] = {};
  Available() {
    int n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      sets[n++] = &avx512_kernels;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets[n++] = &avx2_kernels;
#endif
    sets[n] = &generic_kernels;
  }
};

const Available& available() {
  static const Available a;
  return a;
}

}  // namespace

const KernelSet& kernels() {
  return *available().sets[0];
}
const KernelSet* const* all_kernels() {
  return available().sets;
}

}  // namespace anadrome::products
