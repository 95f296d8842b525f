// Types of slices, attributes, activity of carries.
#include "transforms/scan_parts.h"

#include "transforms/depends.h"

namespace anadrome {

Type slice_of(Type type) {
  type.shape.erase(0);
  return type;
}
Type stack_of(Type type, std::int64_t length) {
  type.shape.insert(0, length);
  return type;
}

ScanAttr scan_attributes(const ScanAttr& like, ProgramPtr body, std::size_t consts, std::size_t carries) {
  return {{std::move(body), like.body.sources}, like.length, static_cast<std::int64_t>(consts), static_cast<std::int64_t>(carries), like.reverse};
}

Mask active_operands(const ScanParts& p, Mask marked) {
  Mask active = std::move(marked);
  for (bool grew = true; grew;) {
    grew = false;
    const Mask marks = depends(*p.body(), active, {.differentiable = true, .linear_sources = false});
    for (std::size_t k = 0; k < p.carries; ++k) {
      const Atom& a = p.body()->outputs[k];
      if (a.is_var() && marks[a.var] && !active[p.consts + k]) active[p.consts + k] = grew = true;
    }
  }
  return active;
}

Mask active_carries(const ScanParts& p, const Mask& active) {
  Mask out(p.results, 0);
  for (std::size_t k = 0; k < p.carries; ++k) out[k] = active[p.consts + k];
  return out;
}

}  // namespace anadrome
