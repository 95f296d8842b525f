#include "api/captures.h"

#include "core/intern.h"

namespace anadrome {

SharedCaptures with_shared_captures(const std::vector<Recording>& recordings) {
  SharedCaptures out;
  for (const Recording& r : recordings) {
    out.captures.insert(out.captures.end(), r.captures.begin(), r.captures.end());
    Program p = *r.program;
    std::vector<VarId> inputs;
    for (const Recording& other : recordings)
      for (VarId v : other.program->captures) {
        if (&other == &r) {
          inputs.push_back(v);
          continue;
        }
        p.types.push_back(other.program->types[v]);
        inputs.push_back(static_cast<VarId>(p.types.size() - 1));
      }
    inputs.insert(inputs.end(), p.inputs.begin(), p.inputs.end());
    p.captures.clear();
    p.inputs = std::move(inputs);
    out.programs.push_back({intern(std::move(p)), r.program->sources});
  }
  return out;
}

}  // namespace anadrome
