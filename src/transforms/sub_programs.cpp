// Lists of values beside programs; memoised cost.
#include "transforms/sub_programs.h"

#include <algorithm>

#include "core/eval.h"
#include "primitives/prims.h"
#include "transforms/memo.h"

namespace anadrome {

Mask defined(std::span<const Array> values) {
  Mask out;
  for (const Array& x : values) out.push_back(x.defined());
  return out;
}
Arrays only_defined(std::span<const Array> values) {
  Arrays out;
  for (const Array& x : values)
    if (x.defined()) out.push_back(x);
  return out;
}
Arrays spread(const Mask& mask, std::span<const Array> values) {
  Arrays out(mask.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) out[i] = values[next++];
  return out;
}
void append(Arrays& to, std::span<const Array> more) { to.insert(to.end(), more.begin(), more.end()); }

std::vector<Type> types_of(std::span<const Array> values) {
  std::vector<Type> out;
  for (const Array& x : values) out.push_back(x.type());
  return out;
}

Types output_types(const Program& program) {
  Types out;
  for (const Atom& a : program.outputs) out.push_back(program.type(a));
  return out;
}

Array borrowed(const Type& type, const void* memory) { return concrete(type, nullptr, const_cast<void*>(memory)); }

void store(const Array& value, const Type& type, void* to) {
  if (is_literal(value)) value.node()->literal.store(to);
  else if (type.bytes()) std::copy_n(static_cast<const char*>(data(value)), type.bytes(), static_cast<char*>(to));
}

ProgramPtr reordered(const Program& program, std::span<const std::size_t> inputs, std::span<const std::size_t> outputs) {
  Program out = program;
  out.inputs.clear();
  out.outputs.clear();
  for (std::size_t i : inputs) out.inputs.push_back(program.inputs[i]);
  for (std::size_t i : outputs) out.outputs.push_back(program.outputs[i]);
  return intern(std::move(out));
}

Called called(const Equation& e) {
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  if (e.prim == &prim::call) return {&e.as<CallAttr>().body};
  if (e.prim == &prim::checkpoint) return {&e.as<CheckpointAttr>().body};
  if (e.prim == &prim::custom_root) return {&e.as<CustomRootAttr>().solver};
  if (e.prim == &prim::linear_solve) return {&e.as<LinearSolveAttr>().solve};
  if (e.prim == &prim::custom_jvp) {
    const auto& a = e.as<CustomJvpAttr>();
    return {&a.function, count(a.function_consts), count(a.tangents_consts)};
  }
  if (e.prim == &prim::custom_vjp) {
    const auto& a = e.as<CustomVjpAttr>();
    return {&a.function, count(a.function_consts), count(a.forward_consts + a.backward_consts)};
  }
  return {replacement(e.attrs)};
}

Arrays called_operands(const Called& c, std::span<const Array> operands) {
  Arrays out(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(c.consts));
  append(out, operands.subspan(c.consts + c.rules));
  return out;
}

Cost program_cost(const ProgramPtr& program) {
  return *Memo::instance().get<Cost>(
      program, MemoKind::cost, {},
      [&] {
        auto total = std::make_shared<Cost>();
        for (const Equation& e : program->equations) {
          std::vector<Type> in, out;
          for (const Atom& a : e.operands) in.push_back(program->type(a));
          for (VarId r : e.results) out.push_back(program->types[r]);
          const Cost c = need<&Prim::cost>(*e.prim)({e.attrs, in, out});
          total->flops += c.flops;
          total->transcendentals += c.transcendentals;
        }
        return std::shared_ptr<const Cost>(total);
      },
      [](const Cost&) { return sizeof(Cost); });
}

}  // namespace anadrome
