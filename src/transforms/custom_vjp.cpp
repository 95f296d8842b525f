// custom_vjp: a function with a reverse rule of its own. Executables run the function. Linearization runs its forward rule
// instead, and puts one equation, custom_linear, into the linear part: it has no numbers, only a transpose, the backward rule.
#include "transforms/called_rules.h"
#include "transforms/custom_rules.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

struct Parts {
  const CustomVjpAttr& attr;
  std::size_t function_consts, forward_consts, backward_consts, consts, results;

  explicit Parts(const Equation& e)
      : attr(e.as<CustomVjpAttr>()), function_consts(static_cast<std::size_t>(attr.function_consts)),
        forward_consts(static_cast<std::size_t>(attr.forward_consts)), backward_consts(static_cast<std::size_t>(attr.backward_consts)),
        consts(function_consts + forward_consts + backward_consts), results(e.results.size()) {}
  /// Of a list with an entry per operand: the part of the forward, or of the backward rule's captures, and the arguments.
  template <class List> auto forward_part(const List& x) const { return x.subspan(function_consts, forward_consts); }
  template <class List> auto backward_part(const List& x) const { return x.subspan(function_consts + forward_consts, backward_consts); }
  template <class List> auto arguments(const List& x) const { return x.subspan(consts); }
};

constexpr const char* no_forward =
    "a function with custom_vjp has a reverse rule alone. Give it a tangent rule, custom_jvp, which serves both modes, or use grad, "
    "vjp or jacrev";

Called function_of(const CustomVjpAttr& a) {
  return {&a.function, static_cast<std::size_t>(a.function_consts), static_cast<std::size_t>(a.forward_consts + a.backward_consts)};
}

LinearizeOut custom_linearize(const JvpIn& in) {
  const Parts p(in.eqn);
  refuse_captured_tangents(in, p.consts, p.attr.name);
  const Mask floats = differentiable(p.arguments(in.in));
  Mask perturbed;
  Arrays tangents;
  for (std::size_t i = p.consts; i < in.in.size(); ++i) {
    if (!floats[i - p.consts]) continue;
    perturbed.push_back(in.has(i));
    tangents.push_back(in.dense(i));
  }
  Arrays x(p.forward_part(in.x).begin(), p.forward_part(in.x).end());
  append(x, p.arguments(in.x));
  const Arrays r = op::call({p.attr.name, p.attr.rule ? p.attr.rule->forward(perturbed) : p.attr.forward}, x);
  Arrays known(p.backward_part(in.x).begin(), p.backward_part(in.x).end());
  append(known, part(r, p.results, r.size()));
  CustomLinearAttr linear{p.attr.name, p.attr.function, p.attr.backward, static_cast<std::int64_t>(known.size()),
                          Ints(perturbed.begin(), perturbed.end()), p.attr.rule};
  append(known, tangents);
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.results));
  out.t = spread(differentiable(in.out), op::custom_linear(linear, known));
  return out;
}

// ---- batching

/// Programs with a batch axis. Results and cotangents that are batched have it in front.
class Batched {
 public:
  Batched(std::int64_t size, std::string_view axis_name) : size_(size), axis_name_(axis_name) {}

  std::shared_ptr<const VmapProgram> vmapped(const SubProgram& program, const std::vector<int>& axis) const {
    return vmap_program(program.program, axis, size_, axis_name_);
  }
  /// `batched` first results in front, further ones where they are.
  SubProgram results_in_front(const SubProgram& program, const std::vector<int>& axis, const Mask& batched) const {
    const auto v = vmapped(program, axis);
    return {build_program("vmap", argument_types(*v->program), program.sources,
                          [&](const Arrays& x) { return batched_results(v->program, x, v->out_axis, batched, size_, program.sources.get()); }),
            program.sources};
  }
  /// `axis` of all inputs; the cotangents of arguments lie as the arguments do, summed where an argument is shared.
  SubProgram backward(const SubProgram& program, const std::vector<int>& axis, const std::vector<int>& argument_axis) const {
    const auto v = vmapped(program, axis);
    return {build_program("vmap", argument_types(*v->program), program.sources,
                          [&](const Arrays& x) {
                            Arrays g = inline_program(*v->program, {}, x, program.sources.get());
                            for (std::size_t i = 0; i < g.size(); ++i) g[i] = as_argument(g[i], v->out_axis[i], argument_axis[i]);
                            return g;
                          }),
            program.sources};
  }

 private:
  Array as_argument(const Array& g, int axis, int want) const {
    if (want != unbatched) return batch_axis_at(g, axis, size_, want);
    if (axis != unbatched) return op::reduce_sum(g, {axis});
    // The same cotangent in each example.
    return op::mul(g, op::number_like(static_cast<double>(size_), g));
  }
  std::int64_t size_;
  std::string_view axis_name_;
};

std::vector<int> only_floats(const std::vector<int>& axis, const Mask& floats) {
  std::vector<int> out;
  for (std::size_t i = 0; i < floats.size(); ++i)
    if (floats[i]) out.push_back(axis[i]);
  return out;
}
std::vector<int> joined(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The axes of the cotangents: in front where results are batched.
std::vector<int> cotangent_axis(const Mask& batched, const Program& function) {
  std::vector<int> out;
  for (std::size_t k = 0; k < batched.size(); ++k)
    if (is_differentiable(function.type(function.outputs[k]).dtype)) out.push_back(batched[k] ? 0 : unbatched);
  return out;
}
/// The axes of the residuals that a forward rule gives.
std::vector<int> residual_axis(const VmapProgram& forward, std::size_t results) {
  return {forward.out_axis.begin() + static_cast<std::ptrdiff_t>(results), forward.out_axis.end()};
}

/// A late rule under vmap: batched once it is recorded. All results are batched.
class BatchedRule final : public LateRule {
 public:
  BatchedRule(LateRuleRef inner, SubProgram function, std::vector<int> axis, Mask floats, std::int64_t size, std::string_view axis_name)
      : inner_(std::move(inner)), function_(std::move(function)), axis_(std::move(axis)), floats_(std::move(floats)), size_(size),
        axis_name_(axis_name), key_(batched_key(*inner_.rule, axis_, size, axis_name)) {}
  const std::string& key() const override { return key_; }
  std::string name() const override { return "vmap of " + inner_->name(); }
  SubProgram forward(const std::vector<char>& perturbed) const override {
    return Batched(size_, axis_name_).results_in_front(inner_->forward(perturbed), axis_, all());
  }
  SubProgram backward(const std::vector<char>& perturbed, const std::vector<char>& zero) const override {
    const Batched batch(size_, axis_name_);
    const auto v = batch.vmapped(inner_->forward(perturbed), axis_);
    const std::vector<int> axis = joined(residual_axis(*v, all().size()), cotangent_axis(all(), *function_));
    return batch.backward(inner_->backward(perturbed, zero), axis, only_floats(axis_, floats_));
  }

 private:
  Mask all() const { return Mask(function_->outputs.size(), 1); }

  LateRuleRef inner_;
  SubProgram function_;
  std::vector<int> axis_;  // of the arguments
  Mask floats_;
  std::int64_t size_;
  std::string axis_name_, key_;
};

BatchOut custom_batch(const BatchIn& in) {
  const Parts p(in.eqn);
  const Batched batch(in.size, in.axis_name);
  const auto list = [](std::span<const int> axis) { return std::vector<int>(axis.begin(), axis.end()); };
  const std::vector<int> arguments = list(p.arguments(in.axis));
  const std::vector<int> function_axis = joined(list(in.axis.subspan(0, p.function_consts)), arguments);
  const auto f = batch.vmapped(p.attr.function, function_axis);
  Mask floats;
  for (std::size_t i = p.consts; i < in.x.size(); ++i) floats.push_back(is_differentiable(in.x[i].dtype()));
  CustomVjpAttr attr = p.attr;
  Mask batched(p.results, 1);
  if (attr.rule) {
    attr.rule = {std::make_shared<BatchedRule>(attr.rule, p.attr.function, arguments, floats, in.size, in.axis_name)};
  } else {
    const std::vector<int> forward_axis = joined(list(p.forward_part(in.axis)), arguments);
    const auto v = batch.vmapped(attr.forward, forward_axis);
    for (std::size_t k = 0; k < p.results; ++k) batched[k] = f->out_axis[k] != unbatched || v->out_axis[k] != unbatched;
    attr.forward = batch.results_in_front(attr.forward, forward_axis, batched);
    const std::vector<int> known = joined(list(p.backward_part(in.axis)), residual_axis(*v, p.results));
    attr.backward = batch.backward(attr.backward, joined(known, cotangent_axis(batched, *p.attr.function)), only_floats(arguments, floats));
  }
  attr.function = batch.results_in_front(p.attr.function, function_axis, batched);
  BatchOut out;
  out.y = op::custom_vjp(attr, in.x);
  for (char b : batched) out.axis.push_back(b ? 0 : unbatched);
  return out;
}

// ---- the linear part

Types linear_type(const TypeIn& in) {
  return differentiable_types(view(output_types(*in.as<CustomLinearAttr>().function)));
}

void linear_transpose(const TransposeIn& in) {
  const auto& a = in.as<CustomLinearAttr>();
  const auto known = static_cast<std::size_t>(a.known);
  Mask zero;
  for (const Array& ct : in.ct) zero.push_back(!ct.defined());
  const std::vector<char> perturbed(a.perturbed.begin(), a.perturbed.end());
  Arrays x(in.x.begin(), in.x.begin() + a.known);
  for (std::size_t k = 0; k < in.ct.size(); ++k) x.push_back(in.ct[k].defined() ? in.ct[k] : op::zeros(in.out[k]));
  const Arrays g = op::call({a.name, a.rule ? a.rule->backward(perturbed, zero) : a.backward}, x);
  for (std::size_t i = 0; i < g.size(); ++i)
    if (in.wants(known + i)) in.acc[known + i]->add(g[i]);
}

}  // namespace

constinit const Prim prim::custom_vjp = {
    .name = "custom_vjp",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, function_of(in.as<CustomVjpAttr>())); },
    .eval = [](const EvalIn& in) { eval_of_body(in, function_of(in.as<CustomVjpAttr>())); },
    .jvp = no_rule(no_forward),
    .transpose = no_rule("a function with a reverse rule of its own is not known to be linear. Use the function itself"),
    .linearize = custom_linearize,
    .batch = custom_batch,
    .cost = [](const CostIn& in) { return program_cost(in.as<CustomVjpAttr>().function.program); }};
constinit const Prim prim::custom_linear = {
    .name = "custom_linear",
    .type = linear_type,
    .eval = no_rule(no_forward),
    .jvp = no_rule(no_forward),
    .transpose = linear_transpose,
    .batch = no_rule(no_forward),
    .cost = [](const CostIn&) { return Cost{}; }};

Arrays op::custom_vjp(const CustomVjpAttr& function, std::span<const Array> operands) { return bind_all(prim::custom_vjp, operands, function); }
Arrays op::custom_linear(const CustomLinearAttr& function, std::span<const Array> operands) { return bind_all(prim::custom_linear, operands, function); }

}  // namespace anadrome
