// Decimal text of floats of any dtype, by the rules of numpy's str.
#pragma once
#include <span>
#include <string>

#include "anadrome/dtype.h"

namespace anadrome {

/// A single number: all digits that tell it from its neighbours, "0.1", "1e+16".
std::string scalar_text(double value, DType dtype);

/// How the elements of one array are printed: alike, with the decimal points in one column.
class FloatColumn {
 public:
  /// `values`: the elements that will be printed.
  FloatColumn(std::span<const double> values, DType dtype);
  std::string text(double value) const;

 private:
  void choose_notation(std::span<const double> values);
  void fit_positional(double value);
  void fit_scientific(double value);
  void fit_not_finite(std::span<const double> values);

  DType dtype_;
  bool scientific_ = false;
  int left_ = 0;      // characters before the point, the sign included
  int right_ = 0;     // characters after it
  int fraction_ = 0;  // scientific: digits after the point
  int exponent_ = 2;  // scientific: digits of the exponent
};

}  // namespace anadrome
