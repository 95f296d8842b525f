// Numbers of arrays for checks.
#include "support/values.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace anadrome::testing {
namespace {

double gap(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::fabs(a - b) / std::max({1.0, std::fabs(a), std::fabs(b)});
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

/// Copies between `whole` and its part `index` along `axis`.
template <class Copy> void for_each_run(const Type& whole, int axis, std::int64_t index, Copy copy) {
  std::size_t outer = 1, run = item_size(whole.dtype);
  for (int k = 0; k < whole.rank(); ++k) {
    if (k < axis) outer *= static_cast<std::size_t>(whole.shape[k]);
    if (k > axis) run *= static_cast<std::size_t>(whole.shape[k]);
  }
  const auto n = static_cast<std::size_t>(whole.shape[axis]);
  for (std::size_t o = 0; o < outer && run; ++o)
    copy((o * n + static_cast<std::size_t>(index)) * run, o * run, run);
}

const char* bytes(const Array& a) {
  return static_cast<const char*>(data(a));
}

}  // namespace

Numbers numbers(const Array& a) {
  if (is_literal(a)) return {a.node()->literal.as_double()};
  Numbers out;
  for (std::int64_t i = 0; i < a.size(); ++i)
    out.push_back(
        Literal::load(a.dtype(), bytes(a) + i * static_cast<std::int64_t>(item_size(a.dtype()))).as_double());
  return out;
}

Array make_array(const Type& type, const Numbers& values) {
  Array a = uninitialized(type);
  char* to = static_cast<char*>(mutable_data(a));
  for (std::size_t i = 0; i < values.size(); ++i)
    Literal::of(values[i], type.dtype).store(to + i * item_size(type.dtype));
  return a;
}

Array random_array(const Type& type, std::mt19937& random) {
  Numbers v;
  for (std::int64_t i = 0; i < type.elements(); ++i)
    v.push_back(static_cast<double>(random() % 2001) / 1000 - 1);
  return make_array(type, v);
}

Array part_of(const Array& a, int axis, std::int64_t index) {
  Type type = a.type();
  type.shape.erase(static_cast<std::size_t>(axis));
  Array out = uninitialized(type);
  char* to = static_cast<char*>(mutable_data(out));
  for_each_run(a.type(), axis, index, [&](std::size_t in_whole, std::size_t in_part, std::size_t run) {
    std::memcpy(to + in_part, bytes(a) + in_whole, run);
  });
  return out;
}

Array stacked(const Arrays& parts, int axis) {
  Type type = parts[0].type();
  type.shape.insert(static_cast<std::size_t>(axis), static_cast<std::int64_t>(parts.size()));
  Array out = uninitialized(type);
  char* to = static_cast<char*>(mutable_data(out));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Array part = is_literal(parts[i]) ? make_array(parts[i].type(), numbers(parts[i])) : parts[i];
    for_each_run(type, axis, static_cast<std::int64_t>(i),
                 [&](std::size_t in_whole, std::size_t in_part, std::size_t run) {
                   std::memcpy(to + in_whole, bytes(part) + in_part, run);
                 });
  }
  return out;
}

double inner(const Array& a, const Array& b) {
  const Numbers x = numbers(a), y = numbers(b);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

double difference(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, gap(a[i], b[i]));
  return most;
}
double difference(const Array& a, const Array& b) {
  if (a.type() != b.type()) return std::numeric_limits<double>::infinity();
  return difference(numbers(a), numbers(b));
}

bool identical(const Array& a, const Array& b) {
  if (a.type() != b.type()) return false;
  if (is_literal(a) || is_literal(b)) return difference(a, b) == 0;
  return std::memcmp(data(a), data(b), a.type().bytes()) == 0;
}

std::string show(const Array& a) {
  std::ostringstream out;
  out.precision(12);
  out << to_string(a.type()) << " {";
  const Numbers v = numbers(a);
  for (std::size_t i = 0; i < v.size() && i < 12; ++i) out << (i ? ", " : "") << v[i];
  out << (v.size() > 12 ? ", ...}" : "}");
  return out.str();
}

}  // namespace anadrome::testing
