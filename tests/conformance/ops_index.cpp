// Entries of the operations that read and update by index expressions.
#include <stdexcept>

#include "conformance/op_table.h"

namespace anadrome::conformance {

namespace {

/// The index items of a form such as "x[i,1:]": index arrays come from `arrays` in order.
std::vector<Index> items_of(const std::string& form, const Arrays& arrays) {
  const std::string inside = form.substr(form.find('[') + 1, form.size() - form.find('[') - 2);
  if (inside == "i") return {arrays.at(0)};
  if (inside == "i,j") return {arrays.at(0), arrays.at(1)};
  if (inside == ":,j") return {all, arrays.at(0)};
  if (inside == "i,1:") return {arrays.at(0), from(1)};
  if (inside == "1,::-1") return {1, every(-1)};
  if (inside == "...,None,-1") return {ellipsis, newaxis, -1};
  if (inside == "1:4:2") return {slice(1, 4, 2)};
  throw std::runtime_error("unknown index form " + form);
}

/// An entry for x.at[...].method(update): inputs are x, the index arrays, the update.
template <class Update> OpFunction update(Update method) {
  return [method](const Arrays& in, const Params& p) -> Arrays {
    const Arrays indices(in.begin() + 1, in.end() - 1);
    const At place(in.at(0), items_of(text(p, "form"), indices));
    const bool clip = p.contains("mode") && p.at("mode") == "clip";
    return {method(place, in.back(), clip ? OutOfBounds::clip : OutOfBounds::drop)};
  };
}

}  // namespace

void add_index(OpTable& table) {
  table["index"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {At(in.at(0), items_of(text(p, "form"), Arrays(in.begin() + 1, in.end()))).get()};
  };
  table["at_set"] = update([](const At& a, const Array& v, OutOfBounds mode) { return a.set(v, mode); });
  table["at_add"] = update([](const At& a, const Array& v, OutOfBounds mode) { return a.add(v, mode); });
  table["at_mul"] = update([](const At& a, const Array& v, OutOfBounds mode) { return a.multiply(v, mode); });
  table["at_min"] = update([](const At& a, const Array& v, OutOfBounds mode) { return a.min(v, mode); });
  table["at_max"] = update([](const At& a, const Array& v, OutOfBounds mode) { return a.max(v, mode); });
}

}  // namespace anadrome::conformance
