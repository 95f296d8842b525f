// Reference evaluation: one equation at a time on concrete arrays.
#include "core/eval.h"

namespace anadrome {
namespace {

/// Memory of an operand; literals are written into `store`.
const void* operand_data(const Array& x, std::uint64_t& store) {
  if (kind(x) == Node::Kind::concrete) return x.node()->data;
  x.node()->literal.store(&store);
  return &store;
}

void check_concrete(const Prim& prim, const Array& x) {
  check_usable(x, prim.name);
  if (!is_variable(x)) return;
  const Node& node = *x.node();
  const std::string made = at_source(node.source);
  throw TraceError(std::string(prim.name) + ": a value of type " + to_string(node.type) + " recorded inside '" +
                   node.tag->name + "'" + (made.empty() ? "" : " (made" + made + ")") +
                   (node.tag->builder.load() ? " is used outside that function (on another thread?)."
                                             : " is used after that function has ended.") +
                   " Return it from the function instead of storing it elsewhere." + at_current_source());
}

}  // namespace

Arrays evaluate(const Prim& prim, const Attrs& attrs, std::span<const Array> operands) {
  boost::container::small_vector<Type, 4> in;
  boost::container::small_vector<std::uint64_t, 4> stores(operands.size());
  boost::container::small_vector<const void*, 4> x;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_concrete(prim, operands[i]);
    in.push_back(operands[i].node()->type);
    x.push_back(operand_data(operands[i], stores[i]));
  }
  const Types types = need<&Prim::type>(prim)({prim, attrs, TypePointers(view(in))});
  Arrays out;
  boost::container::small_vector<void*, 2> y;
  for (const Type& t : types) {
    out.push_back(uninitialized(t));
    y.push_back(mutable_data(out.back()));
  }
  BufferPtr scratch;
  if (prim.scratch) {
    const std::size_t bytes = prim.scratch({attrs, view(in), view(types)});
    if (bytes) scratch = allocate(bytes);
  }
  need<&Prim::eval>(prim)({attrs, view(in), view(types), view(x), {y.data(), y.size()}, scratch.data()});
  return out;
}

Arrays evaluate(const Program& program, std::span<const Array> captures, std::span<const Array> inputs) {
  if (captures.size() != program.captures.size() || inputs.size() != program.inputs.size())
    throw InternalError("evaluate: a program with " + std::to_string(program.captures.size()) + " captures and " +
                        std::to_string(program.inputs.size()) + " inputs was given " +
                        std::to_string(captures.size()) + " and " + std::to_string(inputs.size()));
  LeaveScopes eager;
  return inline_program(program, captures, inputs);
}

}  // namespace anadrome
