// Decimal text of floats of any dtype, by the rules of numpy's str.
#include "api/float_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "anadrome/program.h"

namespace anadrome {
namespace {

constexpr int most_fraction_digits = 8;

/// Decimal digits d of a finite number: 0.d[0] is never 0 unless the number is; its value is d[0].d[1]...
/// 10^exponent.
struct Decimal {
  std::string digits;
  int exponent;
  bool negative;
};

/// Reads "-1.25e+03".
Decimal decimal_from(std::string_view text, bool negative) {
  if (text.front() == '-') text.remove_prefix(1);
  const std::size_t e = text.find('e');
  Decimal d{std::string(text.substr(0, e)), std::atoi(std::string(text.substr(e + 1)).c_str()), negative};
  std::erase(d.digits, '.');
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  return d;
}

/// The value rounded to `fraction` digits after the point of its scientific form.
Decimal rounded_decimal(double value, int fraction) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", fraction, value);
  return decimal_from(text, std::signbit(value));
}

/// The fewest digits that read back as the value.
Decimal shortest(double value, DType dtype) {
  char text[64];
  if (dtype == f64 || dtype == f32) {
    const auto end = dtype == f64
                         ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific)
                         : std::to_chars(text, text + sizeof text, static_cast<float>(value),
                                         std::chars_format::scientific);
    return decimal_from({text, end.ptr}, std::signbit(value));
  }
  for (int fraction = 0;; ++fraction) {  // 16 bits: at most 5 digits
    std::snprintf(text, sizeof text, "%.*e", fraction, value);
    if (Literal::of(std::strtod(text, nullptr), dtype).as_double() == value)
      return decimal_from(text, std::signbit(value));
  }
}

struct Parts {
  std::string whole, fraction;  // around the point; the sign is in `whole`
};

Parts lay_out(const Decimal& d) {
  const int count = static_cast<int>(d.digits.size());
  Parts parts{d.negative ? "-" : "", ""};
  if (d.exponent < 0) {
    parts.whole += '0';
    parts.fraction = std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
    if (d.digits == "0") parts.fraction.clear();
  } else {
    const int whole = d.exponent + 1;
    parts.whole += d.digits.substr(0, static_cast<std::size_t>(std::min(whole, count)));
    parts.whole += std::string(static_cast<std::size_t>(std::max(0, whole - count)), '0');
    if (count > whole) parts.fraction = d.digits.substr(static_cast<std::size_t>(whole));
  }
  return parts;
}

/// Around the point of the positional form, with at most `most` digits after it.
Parts positional(double value, DType dtype, int most) {
  Parts parts = lay_out(shortest(value, dtype));
  if (static_cast<int>(parts.fraction.size()) <= most) return parts;
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", most, value);
  const std::string_view all(text);
  const std::size_t point = all.find('.');
  parts = {std::string(all.substr(0, point)), std::string(all.substr(point + 1))};
  while (!parts.fraction.empty() && parts.fraction.back() == '0') parts.fraction.pop_back();
  return parts;
}

struct Scientific {
  Parts parts;
  char sign;
  std::string exponent;
};

Scientific scientific_form(const Decimal& d) {
  const std::string exponent = std::to_string(std::abs(d.exponent));
  return {{(d.negative ? "-" : "") + d.digits.substr(0, 1), d.digits.substr(1)},
          d.exponent < 0 ? '-' : '+',
          exponent.size() < 2 ? "0" + exponent : exponent};
}

/// The scientific form with at most `most` digits after the point.
Scientific scientific(double value, DType dtype, int most) {
  const Decimal d = shortest(value, dtype);
  return scientific_form(static_cast<int>(d.digits.size()) <= most + 1 ? d : rounded_decimal(value, most));
}

/// From where on arrays of a dtype are printed with exponents.
double largest_positional(DType dtype) {
  return dtype == f64 ? 1e8 : dtype == f32 ? 1e6 : 1e3;
}
double largest_positional_scalar(DType dtype) {
  return dtype == f64 ? 1e16 : largest_positional(dtype);
}

std::string not_finite(double value) {
  return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

int length(const std::string& text) {
  return static_cast<int>(text.size());
}

}  // namespace

std::string scalar_text(double value, DType dtype) {
  if (!std::isfinite(value)) return not_finite(value);
  const double size = std::abs(value);
  if (size == 0 || (size >= 1e-4 && size < largest_positional_scalar(dtype))) {
    const Parts parts = positional(value, dtype, std::numeric_limits<int>::max());
    return parts.whole + '.' + (parts.fraction.empty() ? "0" : parts.fraction);
  }
  const Scientific s = scientific(value, dtype, std::numeric_limits<int>::max() - 1);
  return s.parts.whole + (s.parts.fraction.empty() ? "" : "." + s.parts.fraction) + 'e' + s.sign + s.exponent;
}

FloatColumn::FloatColumn(std::span<const double> values, DType dtype) : dtype_(dtype) {
  choose_notation(values);
  if (scientific_) exponent_ = 0;
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    if (scientific_)
      fit_scientific(v);
    else
      fit_positional(v);
  }
  if (scientific_) right_ = exponent_ + 2 + fraction_;
  fit_not_finite(values);
}

void FloatColumn::choose_notation(std::span<const double> values) {
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  for (double v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    largest = std::max(largest, std::abs(v));
    smallest = std::min(smallest, std::abs(v));
  }
  if (largest == 0) return;
  scientific_ = largest >= largest_positional(dtype_) || smallest < Literal::of(1e-4, dtype_).as_double() ||
                Literal::of(largest / smallest, dtype_).as_double() > 1000;
}

void FloatColumn::fit_positional(double value) {
  const Parts parts = positional(value, dtype_, most_fraction_digits);
  left_ = std::max(left_, length(parts.whole));
  right_ = std::max(right_, length(parts.fraction));
}

void FloatColumn::fit_scientific(double value) {
  const Scientific s = scientific(value, dtype_, most_fraction_digits);
  left_ = std::max(left_, length(s.parts.whole));
  fraction_ = std::max(fraction_, length(s.parts.fraction));
  exponent_ = std::max(exponent_, length(s.exponent));
}

void FloatColumn::fit_not_finite(std::span<const double> values) {
  for (double v : values)
    if (!std::isfinite(v)) left_ = std::max(left_, length(not_finite(v)) - right_ - 1);
}

std::string FloatColumn::text(double value) const {
  if (!std::isfinite(value)) {
    const std::string word = not_finite(value);
    return spaces(left_ + right_ + 1 - length(word)) + word;
  }
  if (!scientific_) {
    const Parts parts = positional(value, dtype_, most_fraction_digits);
    return spaces(left_ - length(parts.whole)) + parts.whole + '.' + parts.fraction +
           spaces(right_ - length(parts.fraction));
  }
  // All digits of the column are those of the value, not zeros after its shortest form.
  const Scientific s = scientific_form(rounded_decimal(value, fraction_));
  const auto zeros = [](int count) { return std::string(static_cast<std::size_t>(std::max(0, count)), '0'); };
  return spaces(left_ - length(s.parts.whole)) + s.parts.whole + '.' + s.parts.fraction +
         zeros(fraction_ - length(s.parts.fraction)) + 'e' + s.sign + zeros(exponent_ - length(s.exponent)) +
         s.exponent;
}

}  // namespace anadrome
