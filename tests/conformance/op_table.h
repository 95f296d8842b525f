// From the names of operations in ops.json to functions of this library.
#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "conformance/json_arrays.h"

namespace anadrome::conformance {

/// The attributes of a case: the object `params`, empty where the case has none.
using Params = Json;
using OpFunction = std::function<Arrays(const Arrays& in, const Params& params)>;
using OpTable = std::map<std::string, OpFunction>;

void add_elementwise(OpTable& table);
void add_shape(OpTable& table);
void add_index(OpTable& table);
void add_gather(OpTable& table);
void add_reduce(OpTable& table);
void add_linear(OpTable& table);
void add_random(OpTable& table);

/// Every operation that has an entry.
const OpTable& op_table();

// ---- attributes
inline std::int64_t integer(const Params& p, const char* name) {
  return p.at(name).get<std::int64_t>();
}
inline double real(const Params& p, const char* name) {
  return p.at(name).get<double>();
}
inline bool flag(const Params& p, const char* name) {
  return p.contains(name) && p.at(name).get<bool>();
}
inline std::string text(const Params& p, const char* name) {
  return p.at(name).get<std::string>();
}
inline DType dtype_in(const Params& p, const char* name) {
  return dtype_of_tag(text(p, name));
}
inline Shape ints(const Json& list) {
  Shape result;
  for (const Json& i : list) result.push_back(i.get<std::int64_t>());
  return result;
}
/// A list of integers; absent: empty.
inline Shape ints(const Params& p, const char* name) {
  return p.contains(name) ? ints(p.at(name)) : Shape();
}

}  // namespace anadrome::conformance
