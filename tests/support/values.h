// Numbers of arrays for checks, without operations of the library.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/node.h"

namespace anadrome::testing {

using Numbers = std::vector<double>;

/// The elements as doubles.
Numbers numbers(const Array& a);
/// An array of these numbers, rounded to the dtype.
Array make_array(const Type& type, const Numbers& values);
/// Uniform numbers in [-1, 1].
Array random_array(const Type& type, std::mt19937& random);
/// Element `index` of `axis`; the axis disappears.
Array part_of(const Array& a, int axis, std::int64_t index);
/// The inverse: arrays of one type side by side along a new axis.
Array stacked(const Arrays& parts, int axis);

/// The sum of the products of all elements.
double inner(const Array& a, const Array& b);
/// Largest |a - b| / max(1, |a|, |b|); infinite for another type, or NaN against a number.
double difference(const Array& a, const Array& b);
double difference(const Numbers& a, const Numbers& b);
/// True when two arrays have the same type and bits.
bool identical(const Array& a, const Array& b);
/// "f64[2] {0.5, 1}" for failures.
std::string show(const Array& a);

}  // namespace anadrome::testing
