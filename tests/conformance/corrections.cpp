// Elements of the tables that are not what mathematics says, each with its reason.
#include "conformance/corrections.h"

#include <array>

namespace anadrome::conformance {

namespace {

struct Correction {
  const char* id;
  const char* part;
  std::size_t index;    // of the result
  std::size_t element;  // in row-major order
  const char* value;    // as in the tables: a number, "inf", "-inf" or "nan"
};

constexpr std::array corrections{
    // The trigamma function is 0 at infinity; recorded as NaN.
    Correction{"digamma/f32/34/special/1", "jvp", 0, 2, "0"},
    Correction{"digamma/f32/34/special/1", "vjp", 0, 2, "0"},
    Correction{"digamma/f64/34/special/1", "jvp", 0, 2, "0"},
    Correction{"digamma/f64/34/special/1", "vjp", 0, 2, "0"},
    // It has no value at -infinity.
    Correction{"digamma/f32/34/special/1", "jvp", 0, 3, "nan"},
    Correction{"digamma/f32/34/special/1", "vjp", 0, 3, "nan"},
    Correction{"digamma/f64/34/special/1", "jvp", 0, 3, "nan"},
    Correction{"digamma/f64/34/special/1", "vjp", 0, 3, "nan"},
    // The derivative of x / y in y was recorded as x / y^2, and y^2 underflows (then 0 / 0) or overflows (inf / inf).
    Correction{"div/f32_f32/144,144/special/1", "jvp", 0, 11, "1e30"},
    Correction{"div/f32_f32/144,144/special/1", "jvp", 0, 23, "1e30"},
    Correction{"div/f32_f32/144,144/special/1", "jvp", 0, 94, "-inf"},
    Correction{"div/f32_f32/144,144/special/1", "jvp", 0, 106, "inf"},
    Correction{"div/f32_f32/144,144/special/1", "vjp", 1, 11, "0"},
    Correction{"div/f32_f32/144,144/special/1", "vjp", 1, 23, "0"},
    Correction{"div/f32_f32/144,144/special/1", "vjp", 1, 94, "-inf"},
    Correction{"div/f32_f32/144,144/special/1", "vjp", 1, 106, "inf"},
    Correction{"div/f64_f64/144,144/special/1", "jvp", 0, 94, "-inf"},
    Correction{"div/f64_f64/144,144/special/1", "jvp", 0, 106, "inf"},
    Correction{"div/f64_f64/144,144/special/1", "vjp", 1, 94, "-inf"},
    Correction{"div/f64_f64/144,144/special/1", "vjp", 1, 106, "inf"},
    // At x = y = 1e-30 both derivatives together are 0; the square underflows, or its rounding shows in what cancels.
    Correction{"div/f32_f32/144,144/special/1", "jvp", 0, 143, "0"},
    Correction{"div/f32_f32/144,144/special/1", "vjp", 1, 143, "-1e30"},
    Correction{"div/f64_f64/144,144/special/1", "jvp", 0, 143, "0"},
    // 2^1024 overflows and so does 2^1024 log 2, computed from it; recorded from a value too small to overflow.
    Correction{"exp2/f64/10/special/1", "jvp", 0, 7, "inf"},
    Correction{"exp2/f64/10/special/1", "vjp", 0, 7, "inf"},
};

}  // namespace

Json with_corrections(const Json& array, const std::string& id, const std::string& part, std::size_t index) {
  Json result = array;
  for (const Correction& c : corrections) {
    if (id != c.id || part != c.part || index != c.index) continue;
    const std::string value = c.value;
    result.at("v").at(c.element) = value.ends_with("inf") || value == "nan" ? Json(value) : Json(std::stod(value));
  }
  return result;
}

}  // namespace anadrome::conformance
