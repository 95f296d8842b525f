// Reading arrays of the golden tables and the elements of results.
#include "conformance/json_arrays.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/node.h"
#include "math/half.h"

namespace anadrome::conformance {

namespace {

template <class T> struct As { using type = T; };

/// Calls `f` with the element type that stores a dtype.
template <class F> auto with_element(DType dtype, F&& f) {
  switch (dtype) {
    case b1:
      return f(As<bool>{});
    case i8:
      return f(As<std::int8_t>{});
    case i16:
      return f(As<std::int16_t>{});
    case i32:
      return f(As<std::int32_t>{});
    case i64:
      return f(As<std::int64_t>{});
    case u8:
      return f(As<std::uint8_t>{});
    case u16:
      return f(As<std::uint16_t>{});
    case u32:
      return f(As<std::uint32_t>{});
    case u64:
      return f(As<std::uint64_t>{});
    case bf16:
      return f(As<math::BFloat16>{});
    case f16:
      return f(As<math::Float16>{});
    case f32:
      return f(As<float>{});
    case f64:
      return f(As<double>{});
    default:
      throw std::runtime_error("complex elements are not read");
  }
}

template <class T> T element_from(Number value) {
  // The tables give half-precision numbers as doubles, which math::BFloat16 and Float16 round once.
  if constexpr (math::is_half<T>)
    return T(static_cast<double>(value));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(static_cast<double>(value));
  else
    return static_cast<T>(value);
}

template <class T> Number number_of(T value) {
  if constexpr (math::is_half<T>)
    return static_cast<float>(value);
  else
    return static_cast<Number>(value);
}

}  // namespace

DType dtype_of_tag(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(DType::c128); ++i) {
    if (tag(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  }
  throw std::runtime_error("unknown dtype " + std::string(text));
}

Type type_of(const Json& array) {
  Type type;
  type.dtype = dtype_of_tag(array.at("dt").get<std::string>());
  for (const Json& extent : array.at("sh")) type.shape.push_back(extent.get<std::int64_t>());
  return type;
}

Array array_from(const Json& table) {
  const Type type = type_of(table);
  Array array = uninitialized(type);
  with_element(type.dtype, [&]<class T>(As<T>) {
    T* out = static_cast<T*>(mutable_data(array));
    for (const Json& value : table.at("v")) *out++ = element_from<T>(number_from(value));
  });
  return array;
}

Array zeros_of(const Type& type) {
  Array array = uninitialized(type);
  std::memset(mutable_data(array), 0, type.bytes());
  return array;
}

Number number_from(const Json& value) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (text == "nan") return std::numeric_limits<Number>::quiet_NaN();
    const Number infinity = std::numeric_limits<Number>::infinity();
    return text == "-inf" ? -infinity : infinity;
  }
  if (value.is_number_unsigned()) return static_cast<Number>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<Number>(value.get<std::int64_t>());
  return static_cast<Number>(value.get<double>());
}

Number rounded(Number value, DType dtype) {
  return with_element(dtype, [&]<class T>(As<T>) { return number_of(element_from<T>(value)); });
}

std::vector<Number> numbers_from(const Json& array, DType dtype) {
  std::vector<Number> numbers;
  for (const Json& value : array.at("v")) numbers.push_back(rounded(number_from(value), dtype));
  return numbers;
}

std::vector<Number> numbers_of(const Array& array) {
  return with_element(array.dtype(), [&]<class T>(As<T>) {
    std::vector<Number> numbers;
    if constexpr (math::is_half<T>) {
      for (float x : array.to_vector<float>()) numbers.push_back(x);
    } else {
      for (T x : array.to_vector<T>()) numbers.push_back(number_of(x));
    }
    return numbers;
  });
}

}  // namespace anadrome::conformance
