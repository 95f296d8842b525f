// Products of arrays whose axes carry labels: what matmul and einsum are made of.
#pragma once
#include <vector>

#include "api/along.h"

namespace anadrome {

/// An array and the label of each of its axes.
struct Labeled {
  Array x;
  Ints labels;
  bool has(std::int64_t label) const;
  std::int64_t extent(std::int64_t label) const;
};

/// Products of all arrays, summed over the labels that are not in `result`, with the axes in the order of
/// `result`. An axis of extent 1 broadcasts against a longer one of the same label.
Array contract(std::vector<Labeled> arrays, const Ints& result, std::string_view what);

}  // namespace anadrome
