// Recording for transforms, literal lifting, running.
#include "api/prepare.h"

#include "transforms/memo.h"

namespace anadrome {

std::string leaf_name(const functional::Context& context, std::size_t i) {
  return context.leaf ? context.leaf(i) : "argument " + std::to_string(i);
}
std::string at(const functional::Context& context) { return at_source(context.source); }

namespace {

[[noreturn]] void throw_ended(const Array& x, const functional::Context& context, std::size_t i) {
  const Node& node = *x.node();
  throw TraceError(context.name + ": " + leaf_name(context, i) + " is a value of type " + to_string(node.type) +
                   " recorded inside '" + node.tag->name + "'" +
                   (at_source(node.source).empty() ? "" : " (made" + at_source(node.source) + ")") +
                   ", after that function has ended. Return it from the function instead of storing it elsewhere." +
                   at(context));
}

}  // namespace

void check_values(const Arrays& x, const functional::Context& context) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x[i].defined())
      throw TypeError(context.name + ": " + leaf_name(context, i) +
                      " is an empty Array (never assigned). Give it a value, for example zeros(shape)." + at(context));
    if (kind(x[i]) > Node::Kind::literal) check_usable(x[i], context.name + ": " + leaf_name(context, i));
    if (is_variable(x[i]) && !x[i].node()->tag->builder.load()) throw_ended(x[i], context, i);
  }
}

std::vector<Type> checked_types(const Arrays& x, const functional::Context& context) {
  check_values(x, context);
  std::vector<Type> out;
  out.reserve(x.size());
  for (const Array& a : x) out.push_back(a.type());
  return out;
}

Arrays Prepared::arguments(const Arrays& x) const {
  Arrays out;
  out.reserve(leading.size() + x.size());
  out = leading;
  out.insert(out.end(), x.begin(), x.end());
  return out;
}
Mask Prepared::argument_mask(const functional::Mask& over_inputs) const {
  Mask out(leading.size(), 0);
  out.insert(out.end(), over_inputs.begin(), over_inputs.end());
  return out;
}

namespace {

/// 0, 1 and -1 stay in the program: simplification knows them.
bool stays(const Literal& l) {
  if (l.dtype == DType::b1) return true;
  const double v = l.as_double();
  return v == 0 || v == 1 || v == -1;
}

/// Turns the other literals of `p` into captures (the values are appended to `values`).
void lift_literals(Program& p, Arrays& values) {
  for (Equation& e : p.equations)
    for (Atom& a : e.operands) {
      if (a.is_var() || stays(a.literal)) continue;
      Array value = uninitialized({a.literal.dtype, {}, false});
      a.literal.store(mutable_data(value));
      p.types.push_back(value.type());
      a = Atom::variable(static_cast<VarId>(p.types.size() - 1));
      p.captures.push_back(a.var);
      values.push_back(std::move(value));
    }
}

}  // namespace

Prepared prepare_types(const functional::Context& context, const functional::Function& f, std::span<const Type> types,
                       Arrays bound) {
  Recording r = record(context.name, f, types, std::move(bound));
  Prepared out;
  out.inputs = types.size();
  out.leading = std::move(r.captures);
  out.sources = r.program->sources;
  if (out.sources && !out.sources->empty()) out.source = out.sources->back();
  if (current_scope()) {
    out.program = closed(r.program);
    return out;
  }
  lift_literals(*r.program, out.leading);
  if (out.leading.empty()) {  // as it was recorded
    out.program = intern(ProgramPtr(std::move(r.program)));
    return out;
  }
  Program p = std::move(*r.program);
  p.inputs = arguments(p);
  p.captures.clear();
  out.program = intern(std::move(p));
  return out;
}

Prepared prepare(const functional::Context& context, const functional::Function& f, const Arrays& x, bool bind) {
  return prepare_types(context, f, checked_types(x, context), bind ? x : Arrays());
}

Arrays apply(const ProgramPtr& program, const Arrays& arguments, const std::shared_ptr<const SourceTable>& sources) {
  if (current_scope()) return inline_program(*program, {}, arguments, sources.get());
  auto executable = Memo::instance().get<Executable>(
      program, MemoKind::executable, {}, [&] { return compile(program, {.backend = "precompiled"}); },
      [](const Executable& e) { return 2 * program_bytes(e.optimized_program()) + 1024; });
  return executable->run(arguments);
}

}  // namespace anadrome
