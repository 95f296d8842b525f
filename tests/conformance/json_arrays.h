// Arrays of the golden tables: {"dt": tag, "sh": [dims], "v": [values]}, and their elements as numbers.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "anadrome/array.h"

namespace anadrome::conformance {

using Json = nlohmann::json;
using Arrays = std::vector<Array>;

/// The dtype of a tag such as "f32". Throws std::runtime_error for an unknown one.
DType dtype_of_tag(std::string_view tag);
/// The type of an array of a table.
Type type_of(const Json& array);
/// The array with the elements of the table, each rounded once to its dtype.
Array array_from(const Json& array);
/// Zeros of a type: what a symbolic zero stands for.
Array zeros_of(const Type& type);

/// Wide enough for every element of every real dtype without rounding.
using Number = long double;
/// A number of a table; "inf", "-inf" and "nan" are strings there.
Number number_from(const Json& value);
/// `value` rounded once to a dtype.
Number rounded(Number value, DType dtype);
/// The elements of a table, rounded to `dtype`.
std::vector<Number> numbers_from(const Json& array, DType dtype);
/// The elements of a concrete array.
std::vector<Number> numbers_of(const Array& array);

}  // namespace anadrome::conformance
