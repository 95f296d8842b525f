// Vector functions: our own, those of glibc's libmvec, or those of SLEEF.
#include "native/vector_math.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "native/vector_sources.h"

namespace anadrome {
namespace {

struct Machine {
  bool avx2 = false, avx512 = false;
};

Machine find_machine() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return {avx2, avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")};
#else
  return {};
#endif
}

/// Bits of a vector of `lanes` numbers, where this machine has such vectors; else 0.
int usable_bits(DType dtype, int lanes) {
  static const Machine machine = find_machine();
  if (dtype != f32 && dtype != f64) return 0;
  const int bits = lanes * static_cast<int>(8 * item_size(dtype));
  if ((bits == 256 && machine.avx2) || (bits == 512 && machine.avx512)) return bits;
#if defined(__aarch64__)
  if (bits == 128) return bits;
#endif
  return 0;
}

/// A library that need not be there. Stays loaded.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  bool is_there() const { return handle_ != nullptr; }
  std::optional<MathFunction> find(const std::string& symbol, int operands) const {
    void* address = handle_ ? dlsym(handle_, symbol.c_str()) : nullptr;
    if (!address) return std::nullopt;
    return MathFunction{symbol, address, operands};
  }

 private:
  void* handle_;
};

int operands_of(std::string_view primitive) {
  return primitive == "pow" || primitive == "atan2" || primitive == "hypot" ? 2 : 1;
}

std::optional<MathFunction> find_own(std::string_view primitive, DType dtype, int lanes, int bits) {
  if (bits == 128) return std::nullopt;
  for (const OwnFunction& f : bits == 256 ? own_functions_avx2() : own_functions_avx512()) {
    if (f.primitive != primitive || f.dtype != dtype) continue;
    std::string symbol = "anadrome_";
    symbol.append(primitive).append("_").append(tag(dtype));
    symbol.append("x").append(std::to_string(lanes));
    return MathFunction{std::move(symbol), f.address, f.operands};
  }
  return std::nullopt;
}

const Library& libmvec() {
  static const Library library("libmvec.so.1");
  return library;
}

/// For example _ZGVdN8v_sinf: AVX2, 8 lanes, one vector operand.
std::optional<MathFunction> find_libmvec(std::string_view primitive, DType dtype, int lanes, int bits) {
  if (bits == 128) return std::nullopt;
  const int operands = operands_of(primitive);
  std::string symbol = bits == 256 ? "_ZGVdN" : "_ZGVeN";
  symbol += std::to_string(lanes) + (operands == 2 ? "vv_" : "v_") + std::string(primitive);
  if (dtype == f32) symbol += "f";
  return libmvec().find(symbol, operands);
}

/// For example Sleef_sinf8_u10avx2: 8 lanes, within 1.0 ulp, AVX2.
std::optional<MathFunction> find_sleef(std::string_view primitive, DType dtype, int lanes, int bits) {
  static const Library library("libsleef.so.3");
  std::string symbol = "Sleef_";
  symbol.append(primitive).append(dtype == f32 ? "f" : "d").append(std::to_string(lanes));
  symbol += primitive == "hypot" ? "_u05" : primitive == "erfc" ? "_u15" : "_u10";
  symbol += bits == 128 ? "advsimd" : bits == 256 ? "avx2" : "avx512f";
  return library.find(symbol, operands_of(primitive));
}

using Names = std::span<const std::string_view>;

// Functions of a library that are no less accurate than JAX's and right everywhere, by the measurements of
// docs/vector-math.md.
constexpr std::array<std::string_view, 13> libmvec_f32 = {"exp2", "log2",  "log10", "log1p", "atan", "sinh", "cosh",
                                                          "asinh", "acosh", "atanh", "erf",  "erfc", "hypot"};
constexpr std::array<std::string_view, 7> libmvec_f64 = {"cbrt",  "atan", "tanh", "asinh",
                                                         "acosh", "erfc", "hypot"};
constexpr std::array<std::string_view, 11> sleef_f32 = {"exp2", "log2",  "log10", "log1p", "atan", "sinh",
                                                        "cosh", "atanh", "erf",   "erfc",  "hypot"};
constexpr std::array<std::string_view, 8> sleef_f64 = {"cbrt",  "atan", "tanh", "asinh",
                                                       "acosh", "erf",  "erfc", "hypot"};

bool is_good(VectorSource source, std::string_view primitive, DType dtype) {
  const bool glibc = source == VectorSource::libmvec;
  const Names names = dtype == f32 ? (glibc ? Names(libmvec_f32) : Names(sleef_f32))
                                   : (glibc ? Names(libmvec_f64) : Names(sleef_f64));
  return std::find(names.begin(), names.end(), primitive) != names.end();
}

}  // namespace

std::optional<MathFunction> vector_function_from(VectorSource source, std::string_view primitive, DType dtype,
                                                 int lanes) {
  const int bits = usable_bits(dtype, lanes);
  if (bits == 0) return std::nullopt;
  switch (source) {
    case VectorSource::own:
      return find_own(primitive, dtype, lanes, bits);
    case VectorSource::libmvec:
      return find_libmvec(primitive, dtype, lanes, bits);
    default:
      return find_sleef(primitive, dtype, lanes, bits);
  }
}

std::optional<MathFunction> sine_cosine_function(DType dtype, int lanes) {
  return vector_function_from(VectorSource::own, "sincos", dtype, lanes);
}

std::optional<MathFunction> vector_function(std::string_view primitive, DType dtype, int lanes) {
  if (auto f = vector_function_from(VectorSource::own, primitive, dtype, lanes)) return f;
  // SLEEF alone where there is no libmvec: what is computed must not depend on a package that may be installed.
  const VectorSource source = libmvec().is_there() ? VectorSource::libmvec : VectorSource::sleef;
  return is_good(source, primitive, dtype) ? vector_function_from(source, primitive, dtype, lanes) : std::nullopt;
}

}  // namespace anadrome
