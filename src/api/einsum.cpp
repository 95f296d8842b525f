// einsum: the subscripts become labels of axes.
#include <algorithm>
#include <map>

#include "anadrome/ops/linear.h"
#include "api/contract.h"

namespace anadrome {

namespace {

/// Labels: the letters' codes; the axes of "..." have negative ones, -1 for the last.
struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
  bool explicit_result = false;
};

Subscripts split(std::string_view text, std::size_t count) {
  Subscripts s;
  std::string all;
  for (char c : text)
    if (c != ' ') all += c;
  const std::size_t arrow = all.find("->");
  s.explicit_result = arrow != std::string::npos;
  if (s.explicit_result) s.result = all.substr(arrow + 2);
  std::string left = all.substr(0, arrow);
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t comma = left.find(',', at);
    s.operands.push_back(left.substr(at, comma == std::string::npos ? comma : comma - at));
    at = comma == std::string::npos ? comma : comma + 1;
  }
  if (s.operands.size() != count)
    refuse("einsum", "\"" + std::string(text) + "\" names " + std::to_string(s.operands.size()) +
                         " operands, " + std::to_string(count) + " were given.");
  return s;
}

/// Labels of one operand or of the result; `dots` is how many axes "..." stands for.
Ints labels_of(const std::string& letters, int dots, std::string_view text) {
  Ints labels;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    if (letters.compare(i, 3, "...") == 0) {
      for (int k = -dots; k < 0; ++k) labels.push_back(k);
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else {
      refuse("einsum", std::string("'") + c + "' in \"" + std::string(text) +
                           "\": subscripts are letters, \"...\", \",\" and \"->\".");
    }
  }
  return labels;
}

/// How many axes "..." stands for in an operand; -1 without one.
int dots_of(const std::string& letters, const Array& x, std::string_view text) {
  const bool dots = letters.find("...") != std::string::npos;
  const int named = static_cast<int>(letters.size()) - (dots ? 3 : 0);
  if (dots ? x.rank() < named : x.rank() != named)
    refuse("einsum", "\"" + letters + "\" in \"" + std::string(text) + "\" names " + std::to_string(named) +
                         " axes of " + to_string(x.type()) + ".");
  return dots ? x.rank() - named : -1;
}

Ints implicit_result(const std::vector<Labeled>& arrays, int dots) {
  std::map<std::int64_t, int> times;
  for (const Labeled& a : arrays)
    for (std::int64_t l : a.labels) ++times[l];
  Ints result;
  for (int k = -dots; k < 0; ++k) result.push_back(k);
  for (const auto& [label, n] : times)
    if (label > 0 && n == 1) result.push_back(label);
  return result;
}

Array einsum_of(std::string_view text, std::initializer_list<const Operand*> operands) {
  const Subscripts s = split(text, operands.size());
  DType dtype = common_dtype(operands, "einsum");
  if (is_bool(dtype)) dtype = i32;
  std::vector<Labeled> arrays;
  int most_dots = 0;
  for (const Operand* operand : operands) {
    const std::string& letters = s.operands[arrays.size()];
    const Array x = as_dtype(*operand, dtype, "einsum");
    const int dots = dots_of(letters, x, text);
    most_dots = std::max(most_dots, dots);
    arrays.push_back({x, labels_of(letters, dots, text)});
  }
  const Ints result =
      s.explicit_result ? labels_of(s.result, most_dots, text) : implicit_result(arrays, most_dots);
  for (int k = 0; k < result.rank(); ++k) {
    const bool known =
        std::any_of(arrays.begin(), arrays.end(), [&](const Labeled& a) { return a.has(result[k]); });
    if (!known || std::count(result.begin(), result.end(), result[k]) > 1)
      refuse("einsum", "the result of \"" + std::string(text) +
                           "\": each of its letters must occur once there and in some operand.");
  }
  return contract(std::move(arrays), result, "einsum");
}

}  // namespace

Array einsum(std::string_view subscripts, const Operand& a) {
  AtSource at(a.source());
  return einsum_of(subscripts, {&a});
}
Array einsum(std::string_view subscripts, const Operand& a, const Operand& b) {
  AtSource at(a.source());
  return einsum_of(subscripts, {&a, &b});
}
Array einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c) {
  AtSource at(a.source());
  return einsum_of(subscripts, {&a, &b, &c});
}

}  // namespace anadrome
