// custom_jvp, custom_vjp and checkpoint on lists of arrays: their functions and rules as programs.
#include "anadrome/custom.h"

#include <algorithm>
#include <mutex>

#include "api/prepare.h"
#include "primitives/op.h"
#include "transforms/custom_rules.h"

namespace anadrome::functional {
namespace {

/// The rules being recorded on this thread: a call of their own functions meanwhile records its rule late.
thread_local std::vector<const void*> open_rules;
class OpenRule {
 public:
  explicit OpenRule(const CustomRule& rule) { open_rules.push_back(rule.object()); }
  ~OpenRule() { open_rules.pop_back(); }
  OpenRule(const OpenRule&) = delete;
};
bool is_open(const CustomRule& rule) { return std::find(open_rules.begin(), open_rules.end(), rule.object()) != open_rules.end(); }

// ---- errors

using Name = std::function<std::string(std::size_t)>;
std::string listed(std::span<const Type> types, const Name& name) {
  std::string out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string path = name(i);
    out += "\n    " + (path.empty() ? "" : path + ": ") + to_string(types[i]);
  }
  return out.empty() ? "\n    nothing" : out;
}

/// Throws RuleError where a rule gives other types than it must.
void check_types(std::span<const Type> got, std::span<const Type> want, const char* what, const char* of, const char* advice, const Name& name,
                 const Context& context) {
  if (std::equal(got.begin(), got.end(), want.begin(), want.end())) return;
  throw RuleError(context.name + ": " + what + listed(got, name) + "\n  " + of + listed(want, name) + "\n  " + advice + at(context));
}

/// The first `count` output types.
std::vector<Type> first_outputs(const Program& program, std::size_t count) {
  std::vector<Type> out = program.output_types();
  out.resize(std::min(out.size(), count));
  return out;
}

// ---- recording rules

/// Values for all leaves: those of differentiable types from `values`, the others without gradient.
Arrays with_no_gradients(std::span<const Type> types, std::span<const Array> values) {
  Arrays out;
  std::size_t next = 0;
  for (const Type& t : types) out.push_back(is_differentiable(t.dtype) ? values[next++] : Array::no_gradient(t.shape));
  return out;
}
std::vector<Type> joined(std::vector<Type> a, const Types& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The derivatives that a rule gave for values of `types`: of the differentiable ones alone, zeros where there is none.
Arrays derivatives_of(std::span<const Type> types, std::span<const Array> given) {
  Arrays out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!is_differentiable(types[i].dtype)) continue;
    out.push_back(given[i].defined() && !given[i].is_no_gradient() ? given[i] : op::zeros(types[i]));
  }
  return out;
}
Name differentiable_names(std::span<const Type> types, const Name& name) {
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (is_differentiable(types[i].dtype)) place.push_back(i);
  return [place = std::move(place), name](std::size_t i) { return i < place.size() ? name(place[i]) : std::string(); };
}

/// The types a rule is recorded for.
struct Signature {
  std::vector<Type> arguments, results;
};

Recording record_tangents(CustomJvpRule& rule, const Signature& s, const Context& context) {
  const OpenRule open(rule);
  const std::size_t n = s.arguments.size();
  Recording r = record(context.name + " rule",
                       [&](const Arrays& in) {
                         const std::span<const Array> all(in);
                         const Arrays x(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
                         auto [y, given] = rule.tangents(x, with_no_gradients(s.arguments, all.subspan(n)));
                         if (y.size() != s.results.size()) return y;
                         if (given.size() != y.size())
                           throw RuleError(context.name + ": the rule returns a value of " + std::to_string(y.size()) + " Arrays and a tangent of " +
                                           std::to_string(given.size()) + ". Give the containers in a tangent the sizes of the value's." + at(context));
                         const Arrays t = derivatives_of(s.results, given);
                         y.insert(y.end(), t.begin(), t.end());
                         return y;
                       },
                       joined(s.arguments, differentiable_types(s.arguments)));
  const Name name = [&](std::size_t i) { return rule.result_name(i); };
  const std::vector<Type> got = r.program->output_types();
  check_types(first_outputs(*r.program, s.results.size()), s.results, "the rule returns the value", "and the function returns",
              "Return from the rule the value of the function itself, of the same structure, shapes and dtypes.", name, context);
  check_types(std::span(got).subspan(s.results.size()), view(differentiable_types(s.results)), "the rule returns the tangent", "of the value",
              "A tangent has the shape and dtype of its value.", differentiable_names(s.results, name), context);
  return r;
}

Recording record_forward(CustomVjpRule& rule, const Signature& s, const Mask& perturbed, CustomVjpRule::Structure& structure,
                         const Context& context) {
  const OpenRule open(rule);
  Recording r = record(context.name + " forward rule", [&](const Arrays& x) { return rule.forward(x, perturbed, structure); }, s.arguments);
  check_types(first_outputs(*r.program, s.results.size()), s.results, "the forward rule returns the value", "and the function returns",
              "Return from the forward rule the value of the function itself, of the same structure, shapes and dtypes, and the residuals.",
              [&](std::size_t i) { return rule.result_name(i); }, context);
  return r;
}

Recording record_backward(CustomVjpRule& rule, const Signature& s, const Program& forward, const Mask& zero,
                          const CustomVjpRule::Structure& structure, const Context& context) {
  const OpenRule open(rule);
  std::vector<Type> residuals = forward.output_types();
  residuals.erase(residuals.begin(), residuals.begin() + static_cast<std::ptrdiff_t>(s.results.size()));
  const std::size_t n = residuals.size();
  Recording r = record(context.name + " backward rule",
                       [&](const Arrays& in) {
                         const Arrays kept(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
                         const Arrays ct = with_no_gradients(s.results, std::span<const Array>(in).subspan(n));
                         return derivatives_of(s.arguments, rule.backward(structure, kept, ct, zero, context));
                       },
                       joined(residuals, differentiable_types(s.results)));
  check_types(r.program->output_types(), view(differentiable_types(s.arguments)), "the backward rule returns the cotangents",
              "for the arguments", "A cotangent has the shape and dtype of its argument.",
              differentiable_names(s.arguments, [&](std::size_t i) { return leaf_name(context, i); }), context);
  return r;
}

SubProgram without_captures(const Recording& r, const Context& context) {
  if (!r.captures.empty())
    throw RuleError(context.name + ": the rule captures an Array " + to_string(r.captures[0].type()) +
                    ", and it is recorded when a derivative asks for it, because it calls its own function or has symbolic_zeros. Pass "
                    "the Array as an argument, and hand it on in the residuals." +
                    at(context));
  return {closed(r.program), r.program->sources};
}

std::string key_of(const CustomRule& rule, const Signature& s) {
  std::string out = std::to_string(reinterpret_cast<std::uintptr_t>(rule.object())) + ' ' + rule.structure();
  for (const Type& t : s.arguments) out += ' ' + to_string(t);
  return out;
}

/// Spreads flags of differentiable values over all.
Mask flags_of_all(std::span<const Type> types, const std::vector<char>& flags, bool others) {
  Mask out;
  std::size_t next = 0;
  for (const Type& t : types) out.push_back(is_differentiable(t.dtype) ? flags[next++] != 0 : others);
  return out;
}

class LateJvp final : public LateRule {
 public:
  LateJvp(std::shared_ptr<CustomJvpRule> rule, Signature s, Context context)
      : rule_(std::move(rule)), signature_(std::move(s)), context_(std::move(context)), key_(key_of(*rule_, signature_)) {}
  const std::string& key() const override { return key_; }
  std::string name() const override { return context_.name; }
  SubProgram forward(const std::vector<char>&) const override {
    const LeaveScopes closed_program;
    return without_captures(record_tangents(*rule_, signature_, context_), context_);
  }
  SubProgram backward(const std::vector<char>&, const std::vector<char>&) const override {
    throw InternalError("a tangent rule has no backward rule");
  }

 private:
  std::shared_ptr<CustomJvpRule> rule_;
  Signature signature_;
  Context context_;
  std::string key_;
};

class LateVjp final : public LateRule {
 public:
  LateVjp(std::shared_ptr<CustomVjpRule> rule, Signature s, Context context)
      : rule_(std::move(rule)), signature_(std::move(s)), context_(std::move(context)), key_(key_of(*rule_, signature_)) {}
  const std::string& key() const override { return key_; }
  std::string name() const override { return context_.name; }
  SubProgram forward(const std::vector<char>& perturbed) const override {
    CustomVjpRule::Structure structure;
    return recorded(perturbed, structure);
  }
  SubProgram backward(const std::vector<char>& perturbed, const std::vector<char>& zero) const override {
    CustomVjpRule::Structure structure;
    const SubProgram forward = recorded(perturbed, structure);
    const LeaveScopes closed_program;
    const Mask flags = flags_of_all(signature_.results, zero, true);
    return without_captures(record_backward(*rule_, signature_, *forward, flags, structure, context_), context_);
  }

 private:
  SubProgram recorded(const std::vector<char>& perturbed, CustomVjpRule::Structure& structure) const {
    const LeaveScopes closed_program;
    const Mask flags = flags_of_all(signature_.arguments, perturbed, false);
    return without_captures(record_forward(*rule_, signature_, flags, structure, context_), context_);
  }

  std::shared_ptr<CustomVjpRule> rule_;
  Signature signature_;
  Context context_;
  std::string key_;
};

std::int64_t count(const Arrays& x) { return static_cast<std::int64_t>(x.size()); }
SubProgram sub_program(const Recording& r) { return {closed(r.program), r.program->sources}; }
void add(Arrays& to, const Arrays& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

Arrays custom_jvp(const std::shared_ptr<CustomJvpRule>& rule, const Arrays& x, const Context& context) {
  const std::vector<Type> types = checked_types(x, context);
  if (!current_scope()) return rule->function(x);  // no derivative is being taken
  SetSource at_call(context.source);
  const Recording f = record(context.name, [&](const Arrays& in) { return rule->function(in); }, types);
  const Signature s{types, f.program->output_types()};
  CustomJvpAttr attr{context.name, sub_program(f), {}, count(f.captures), 0, {}};
  Arrays operands = f.captures;
  if (is_open(*rule)) {
    attr.rule = {std::make_shared<LateJvp>(rule, s, context)};
  } else {
    const Recording t = record_tangents(*rule, s, context);
    attr.tangents = sub_program(t);
    attr.tangents_consts = count(t.captures);
    add(operands, t.captures);
  }
  add(operands, x);
  return bind_all(prim::custom_jvp, operands, attr);
}

Arrays custom_vjp(const std::shared_ptr<CustomVjpRule>& rule, const Arrays& x, const Context& context) {
  const std::vector<Type> types = checked_types(x, context);
  if (!current_scope()) return rule->function(x);  // no derivative is being taken
  SetSource at_call(context.source);
  const Recording f = record(context.name, [&](const Arrays& in) { return rule->function(in); }, types);
  const Signature s{types, f.program->output_types()};
  CustomVjpAttr attr{context.name, sub_program(f), {}, {}, count(f.captures), 0, 0, {}};
  Arrays operands = f.captures;
  if (rule->symbolic_zeros() || is_open(*rule)) {
    attr.rule = {std::make_shared<LateVjp>(rule, s, context)};
  } else {
    CustomVjpRule::Structure structure;
    const Recording forward = record_forward(*rule, s, Mask(types.size(), true), structure, context);
    const Recording backward = record_backward(*rule, s, *forward.program, Mask(s.results.size(), false), structure, context);
    attr.forward = sub_program(forward);
    attr.backward = sub_program(backward);
    attr.forward_consts = count(forward.captures);
    attr.backward_consts = count(backward.captures);
    add(operands, forward.captures);
    add(operands, backward.captures);
  }
  add(operands, x);
  return bind_all(prim::custom_vjp, operands, attr);
}

Arrays checkpoint(const Function& f, const CheckpointPolicy& policy, const Arrays& x, const Context& context) {
  const std::vector<Type> types = checked_types(x, context);
  if (!current_scope()) return f(x);  // nothing is kept
  SetSource at_call(context.source);
  const Recording r = record(context.name, f, types);
  Arrays operands = r.captures;
  add(operands, x);
  const CheckpointAttr attr{sub_program(r), static_cast<Save>(policy.kind()), policy.names()};
  return bind_all(prim::checkpoint, operands, attr);
}

}  // namespace anadrome::functional

namespace anadrome {

Array checkpoint_name(const Array& x, std::string_view name, std::source_location source) {
  AtSource at_call(source);
  return op::checkpoint_name(x, name);
}

}  // namespace anadrome
