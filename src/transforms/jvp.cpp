// jvp as a transform of programs.
#include "transforms/jvp.h"

#include "primitives/op.h"
#include "transforms/memo.h"
#include "transforms/walk.h"

namespace anadrome {
namespace {

std::shared_ptr<const JvpProgram> make_jvp(const ProgramPtr& program, const Mask& active, const Mask& instantiate) {
  auto out = std::make_shared<JvpProgram>();
  std::vector<Type> types = argument_types(*program);
  const std::size_t n = types.size();
  for (std::size_t i = 0; i < n; ++i)
    if (active[i]) types.push_back(types[i]);
  out->program = build_program("jvp", types, program->sources, [&](const Arrays& in) {
    Arrays x(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n)), t(n);
    std::size_t next = n;
    for (std::size_t i = 0; i < n; ++i)
      if (active[i]) t[i] = in[next++];
    Walked w = walk(*program, x, t);
    Arrays y = w.y;
    for (std::size_t i = 0; i < w.t.size(); ++i) {
      const bool forced = !instantiate.empty() && instantiate[i];
      if (!w.t[i].defined() && forced) w.t[i] = op::zeros(program->type(program->outputs[i]));
      out->out_active.push_back(w.t[i].defined());
      if (w.t[i].defined()) y.push_back(w.t[i]);
    }
    return y;
  });
  return out;
}

}  // namespace

std::shared_ptr<const JvpProgram> jvp_program(const ProgramPtr& program, const Mask& active, const Mask& instantiate) {
  std::vector<std::int64_t> key(active.begin(), active.end());
  key.push_back(-1);
  key.insert(key.end(), instantiate.begin(), instantiate.end());
  return Memo::instance().get<JvpProgram>(
      program, MemoKind::jvp, key, [&] { return make_jvp(program, active, instantiate); },
      [](const JvpProgram& r) { return program_bytes(*r.program); });
}

}  // namespace anadrome
