// custom_jvp: a function with a tangent rule of its own. Executables run the function; forward mode calls the rule, and
// linearization splits the rule, which is linear in the tangents, into what it computes once and its linear part.
#include "transforms/called_rules.h"
#include "transforms/custom_rules.h"
#include "transforms/linearize.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

struct Parts {
  const CustomJvpAttr& attr;
  std::size_t function_consts, consts, results;

  explicit Parts(const Equation& e)
      : attr(e.as<CustomJvpAttr>()), function_consts(static_cast<std::size_t>(attr.function_consts)),
        consts(function_consts + static_cast<std::size_t>(attr.tangents_consts)), results(e.results.size()) {}
  /// The rule: its captures, arguments and tangents to results and tangents.
  SubProgram rule() const { return attr.rule ? attr.rule->forward({}) : attr.tangents; }
};

Called function_of(const CustomJvpAttr& a) {
  return {&a.function, static_cast<std::size_t>(a.function_consts), static_cast<std::size_t>(a.tangents_consts)};
}

/// The operands of the rule, its tangents last; `zero` makes those that are symbolic.
template <class Zero> Arrays tangents(const JvpIn& in, const Parts& p, Zero zero) {
  Arrays t;
  for (std::size_t i = p.consts; i < in.in.size(); ++i)
    if (is_differentiable(in.in[i].dtype)) t.push_back(in.has(i) ? in.dense(i) : zero(in.in[i]));
  return t;
}

Arrays custom_jvp_rule(const JvpIn& in) {
  const Parts p(in.eqn);
  refuse_captured_tangents(in, p.consts, p.attr.name);
  Arrays x(in.x.begin() + static_cast<std::ptrdiff_t>(p.function_consts), in.x.end());
  append(x, tangents(in, p, op::zeros));
  const Arrays r = op::call({p.attr.name, p.rule()}, x);
  Arrays out(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.results));
  append(out, spread(differentiable(in.out), part(r, p.results, r.size())));
  return out;
}

LinearizeOut custom_jvp_linearize(const JvpIn& in) {
  const Parts p(in.eqn);
  refuse_captured_tangents(in, p.consts, p.attr.name);
  const SubProgram rule = p.rule();
  // Linear in the tangents, so that its derivative in them, at zero, is the rule itself.
  Arrays x(in.x.begin() + static_cast<std::ptrdiff_t>(p.function_consts), in.x.end());
  Mask active(x.size(), 0);
  const Arrays t = tangents(in, p, op::zero_tangent);
  for (const Array& one : t) x.push_back(op::zeros(one.type())), active.push_back(1);
  const auto lin = linearize_program(rule.program, active);
  const Arrays r = op::call({p.attr.name, {lin->primal, rule.sources}}, x);
  Arrays operands = lin->residual_values(x, r);
  append(operands, t);
  const Arrays given = spread(lin->out_active, op::call({p.attr.name, {closed(lin->tangent), rule.sources}}, operands));
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.results));
  out.t = spread(differentiable(in.out), part(given, p.results, given.size()));
  return out;
}

// ---- batching

/// The rule with a batch axis: `axis` of its captures and arguments, `batched` results with their tangents in front.
SubProgram batched_rule(const SubProgram& rule, std::vector<int> axis, const Mask& batched, const std::vector<Type>& types,
                        std::int64_t size, std::string_view axis_name, std::size_t first) {
  const std::size_t values = axis.size();
  for (std::size_t i = first; i < values; ++i)
    if (is_differentiable(types[i].dtype)) axis.push_back(axis[i]);
  Mask all = batched;
  for (std::size_t k = 0; k < batched.size(); ++k)
    if (is_differentiable(rule->type(rule->outputs[k]).dtype)) all.push_back(batched[k]);
  const auto v = vmap_program(rule.program, axis, size, axis_name);
  return {build_program("vmap", argument_types(*v->program), rule.sources,
                        [&](const Arrays& x) { return batched_results(v->program, x, v->out_axis, all, size, rule.sources.get()); }),
          rule.sources};
}

/// A late rule under vmap: batched once it is recorded.
class BatchedRule final : public LateRule {
 public:
  BatchedRule(LateRuleRef inner, std::vector<int> axis, std::int64_t size, std::string_view axis_name)
      : inner_(std::move(inner)), axis_(std::move(axis)), size_(size), axis_name_(axis_name),
        key_(batched_key(*inner_.rule, axis_, size, axis_name)) {}
  const std::string& key() const override { return key_; }
  std::string name() const override { return "vmap of " + inner_->name(); }
  SubProgram forward(const std::vector<char>& perturbed) const override {
    const SubProgram rule = inner_->forward(perturbed);
    std::size_t results = 0;  // those before their tangents
    for (std::size_t made = 0; made < rule->outputs.size(); ++results)
      made += 1 + is_differentiable(rule->type(rule->outputs[results]).dtype);
    return batched_rule(rule, axis_, Mask(results, 1), argument_types(*rule), size_, axis_name_, 0);
  }
  SubProgram backward(const std::vector<char>&, const std::vector<char>&) const override {
    throw InternalError("a tangent rule has no backward rule");
  }

 private:
  LateRuleRef inner_;
  std::vector<int> axis_;  // of the arguments
  std::int64_t size_;
  std::string axis_name_, key_;
};

BatchOut custom_batch(const BatchIn& in) {
  const Parts p(in.eqn);
  const std::vector<int> all(in.axis.begin(), in.axis.end());
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(p.function_consts), arguments = all.begin() + static_cast<std::ptrdiff_t>(p.consts);
  std::vector<int> function_axis(all.begin(), first), rule_axis(first, all.end());
  function_axis.insert(function_axis.end(), arguments, all.end());
  const auto f = vmap_program(p.attr.function.program, function_axis, in.size, in.axis_name);
  CustomJvpAttr attr = p.attr;
  Mask batched(p.results, 1);
  if (attr.rule) {
    attr.rule = {std::make_shared<BatchedRule>(attr.rule, std::vector<int>(arguments, all.end()), in.size, in.axis_name)};
  } else {
    const std::vector<Type> types = argument_types(*attr.tangents);
    std::vector<int> axis = rule_axis;
    for (std::size_t i = p.consts; i < all.size(); ++i)
      if (is_differentiable(types[i - p.function_consts].dtype)) axis.push_back(all[i]);
    const auto v = vmap_program(attr.tangents.program, axis, in.size, in.axis_name);
    std::size_t next = p.results;
    for (std::size_t k = 0; k < p.results; ++k) {
      batched[k] = f->out_axis[k] != unbatched || v->out_axis[k] != unbatched;
      if (is_differentiable(attr.tangents->type(attr.tangents->outputs[k]).dtype)) batched[k] |= v->out_axis[next++] != unbatched;
    }
    attr.tangents = batched_rule(attr.tangents, rule_axis, batched, types, in.size, in.axis_name,
                                 static_cast<std::size_t>(attr.tangents_consts));
  }
  const SubProgram& function = p.attr.function;
  attr.function.program = build_program("vmap", argument_types(*f->program), function.sources, [&](const Arrays& x) {
    return batched_results(f->program, x, f->out_axis, batched, in.size, function.sources.get());
  });
  BatchOut out;
  out.y = op::custom_jvp(attr, in.x);
  for (char b : batched) out.axis.push_back(b ? 0 : unbatched);
  return out;
}

}  // namespace

constinit const Prim prim::custom_jvp = {
    .name = "custom_jvp",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, function_of(in.as<CustomJvpAttr>())); },
    .eval = [](const EvalIn& in) { eval_of_body(in, function_of(in.as<CustomJvpAttr>())); },
    .jvp = custom_jvp_rule,
    .transpose = no_rule("a function with a tangent rule of its own is not known to be linear. Use its derivative, or the function itself"),
    .linearize = custom_jvp_linearize,
    .batch = custom_batch,
    .cost = [](const CostIn& in) { return program_cost(in.as<CustomJvpAttr>().function.program); }};

Arrays op::custom_jvp(const CustomJvpAttr& function, std::span<const Array> operands) { return bind_all(prim::custom_jvp, operands, function); }

}  // namespace anadrome
