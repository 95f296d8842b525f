// Text of arrays, by the rules of numpy's str: brackets per axis, columns aligned, long arrays summarised.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "anadrome/array.h"
#include "api/float_text.h"
#include "core/node.h"

namespace anadrome {
namespace {

constexpr std::int64_t most_elements = 1000;  // more are summarised
constexpr std::int64_t edge = 3;              // elements shown at each end of an axis then
constexpr std::size_t line_width = 75;

/// The indices of an axis that are shown.
std::vector<std::int64_t> shown(std::int64_t extent, bool summarised) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (summarised && extent > 2 * edge && i == edge) i = extent - edge;
    indices.push_back(i);
  }
  return indices;
}

/// Row-major places of the elements that are shown.
std::vector<std::int64_t> shown_places(const Shape& shape, bool summarised) {
  std::vector<std::int64_t> places{0};
  for (std::int64_t extent : shape) {
    std::vector<std::int64_t> finer;
    for (std::int64_t place : places)
      for (std::int64_t i : shown(extent, summarised)) finer.push_back(place * extent + i);
    places = std::move(finer);
  }
  return places;
}

std::string whole_text(const Literal& value) {
  if (is_bool(value.dtype)) return value.bits ? "True" : "False";
  return is_unsigned(value.dtype) ? std::to_string(value.bits) : std::to_string(value.as_integer());
}

std::string text_of(const Literal& value) {
  return is_float(value.dtype) ? scalar_text(value.as_double(), value.dtype) : whole_text(value);
}

/// The texts of some elements of one array, all of the same width.
std::vector<std::string> column(const std::vector<Literal>& values, DType dtype) {
  std::vector<std::string> texts;
  if (is_float(dtype)) {
    std::vector<double> numbers;
    for (const Literal& v : values) numbers.push_back(v.as_double());
    const FloatColumn format(numbers, dtype);
    for (double v : numbers) texts.push_back(format.text(v));
    return texts;
  }
  std::size_t width = is_bool(dtype) ? 5 : 0;
  for (const Literal& v : values) {
    texts.push_back(whole_text(v));
    width = std::max(width, texts.back().size());
  }
  for (std::string& t : texts) t.insert(0, width - t.size(), ' ');
  return texts;
}

/// Sets the texts of the elements shown into brackets and lines.
class Layout {
 public:
  Layout(const Shape& shape, bool summarised, std::vector<std::string> cells)
      : shape_(shape), summarised_(summarised), cells_(std::move(cells)) {}

  /// The block of one index of the axes before `axis`; its lines after the first start with `axis` + 1
  /// spaces.
  std::string block(int axis) { return '[' + (axis + 1 == shape_.rank() ? row(axis) : rows(axis)) + ']'; }

 private:
  bool shortened(int axis) const { return summarised_ && shape_[axis] > 2 * edge; }

  std::string rows(int axis) {
    const std::string indent(static_cast<std::size_t>(axis) + 1, ' ');
    const std::string separator(static_cast<std::size_t>(shape_.rank() - axis - 1), '\n');
    std::string text;
    const std::int64_t count = shortened(axis) ? 2 * edge : shape_[axis];
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) text += separator + indent;
      if (i == edge && shortened(axis)) text += "..." + separator + indent;
      text += block(axis + 1);
    }
    return text;
  }

  std::string row(int axis) {
    const std::size_t indent = static_cast<std::size_t>(axis) + 1;
    // Every enclosing bracket, this one included, may have to close on the same line.
    const std::size_t width = line_width - static_cast<std::size_t>(shape_.rank());
    std::string text, line(indent, ' ');
    const auto put = [&](const std::string& word) {
      if (line.size() > indent && line.size() + word.size() > width) {
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        line.assign(indent, ' ');
      }
      line += word;
    };
    const std::int64_t count = shortened(axis) ? 2 * edge : shape_[axis];
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == edge && shortened(axis)) {
        put("...");
        line += ' ';
      }
      put(cells_[next_++]);
      if (i + 1 < count) line += ' ';
    }
    return (text + line).substr(indent);
  }

  const Shape& shape_;
  bool summarised_;
  std::vector<std::string> cells_;
  std::size_t next_ = 0;
};

std::string numbers(const Array& a) {
  const Type& type = a.type();
  if (is_complex(type.dtype)) return to_string(type);
  const auto element = [&](std::int64_t place) {
    return Literal::load(type.dtype, static_cast<const char*>(data(a)) +
                                         static_cast<std::size_t>(place) * item_size(type.dtype));
  };
  if (type.rank() == 0) return text_of(element(0));
  if (type.elements() == 0) return "[]";
  const bool summarised = type.elements() > most_elements;
  std::vector<Literal> values;
  for (std::int64_t place : shown_places(type.shape, summarised)) values.push_back(element(place));
  return Layout(type.shape, summarised, column(values, type.dtype)).block(0);
}

}  // namespace

std::string to_string(const Array& a) {
  if (!a.defined()) return "(empty Array)";
  switch (kind(a)) {
    case Node::Kind::concrete:
      return numbers(a);
    case Node::Kind::literal:
      return text_of(a.node()->literal);
    case Node::Kind::variable:
      return to_string(a.type()) + " (traced)";
    case Node::Kind::abstract:
      return to_string(a.type()) + " (abstract)";
    case Node::Kind::donated:
      return to_string(a.type()) + " (donated)";
    case Node::Kind::no_gradient:
      break;
  }
  return "no_gradient" + to_string(a.shape());
}

std::ostream& operator<<(std::ostream& out, const Array& a) {
  return out << to_string(a);
}

}  // namespace anadrome
