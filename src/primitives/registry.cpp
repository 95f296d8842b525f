// The table of all primitives, and the error for a rule that is not there.
#include <string>
#include <unordered_map>

#include "core/builder.h"
#include "primitives/prims.h"

namespace anadrome {

namespace {

constexpr const Prim* table[] = {
#define ANADROME_PRIMITIVE(name) &prim::name,
#include "primitives/list.inc"
#undef ANADROME_PRIMITIVE
};

}  // namespace

std::span<const Prim* const> all_primitives() {
  return table;
}

const Prim* find_primitive(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Prim*> map;
    for (const Prim* p : table) map.emplace(p->name, p);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

void detail::throw_no_rule(const Prim& prim, std::string_view rule, const char* why) {
  throw RuleError(std::string(prim.name) + " has no " + std::string(rule) + " rule: " + why +
                  at_current_source());
}

}  // namespace anadrome
