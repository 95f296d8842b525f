// kernel_equation: closes a group of equations into a program. Also the rules of the primitives `loop_kernel`,
// `turned_product`, `added_product` and `blocked_steps`.
#include "optimize/fuse_body.h"

#include <cstring>
#include <unordered_map>

#include "core/eval.h"
#include "core/intern.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

/// 0, 1 and -1 stay numbers, and so do the starts of windows, which decide what the kernel reads.
bool stays(const Equation& e, std::size_t operand, const Literal& l) {
  const bool window = e.prim == &prim::dynamic_slice || e.prim == &prim::dynamic_add_slice ||
                      e.prim == &prim::dynamic_update_slice;
  if (window && operand >= (e.prim == &prim::dynamic_slice ? 1u : 2u)) return true;
  const double v = l.as_double();
  return v == 0 || v == 1 || v == -1;
}

class BodyMaker {
 public:
  explicit BodyMaker(const Program& program) : program_(program) {
    body_.types = program.types;
    body_.sources = program.sources;
  }
  void add(const Equation& e) {
    Equation copy = e;
    for (std::size_t k = 0; k < copy.operands.size(); ++k) {
      Atom& a = copy.operands[k];
      if (a.is_var()) use(a);
      else if (!stays(e, k, a.literal)) a = lifted(a);
    }
    for (VarId v : e.results) made_.push_back(v);
    body_.equations.push_back(std::move(copy));
  }
  /// The equations of a step of one result, in place of it.
  void add_body(const Equation& step) {
    const Program& body = *step.as<CallAttr>().body;
    std::unordered_map<VarId, Atom> outer;
    for (std::size_t k = 0; k < body.inputs.size(); ++k) outer.emplace(body.inputs[k], step.operands[k]);
    outer.emplace(body.outputs[0].var, Atom::variable(step.results[0]));
    for (Equation e : body.equations) {
      for (Atom& a : e.operands)
        if (a.is_var()) a = outer.at(a.var);
      for (VarId& v : e.results) {
        if (!outer.count(v)) {
          outer.emplace(v, Atom::variable(static_cast<VarId>(body_.types.size())));
          body_.types.push_back(body.type(v));
        }
        v = outer.at(v).var;
      }
      e.origin = step.origin;
      add(e);
    }
  }
  Equation finish(const Prim& prim, const std::vector<VarId>& results) {
    for (VarId v : results) {
      body_.outputs.push_back(Atom::variable(v));
      equation_.results.push_back(v);
    }
    const Equation& last = body_.equations.back();
    equation_.prim = &prim;
    equation_.region = last.region;
    equation_.origin = last.origin;
    equation_.attrs = CallAttr{std::string(prim.name), {intern(std::move(body_)), program_.sources}};
    return std::move(equation_);
  }

 private:
  void use(const Atom& a) {
    if (std::find(made_.begin(), made_.end(), a.var) != made_.end()) return;
    if (std::find(body_.inputs.begin(), body_.inputs.end(), a.var) != body_.inputs.end()) return;
    body_.inputs.push_back(a.var);
    equation_.operands.push_back(a);
  }
  Atom lifted(const Atom& number) {
    const Atom input = Atom::variable(static_cast<VarId>(body_.types.size()));
    body_.types.push_back({number.literal.dtype, {}, false});
    body_.inputs.push_back(input.var);
    equation_.operands.push_back(number);
    return input;
  }

  const Program& program_;
  Program body_;
  Equation equation_;
  std::vector<VarId> made_;
};

const Program& body_of(const Attrs& attrs) { return *attrs.as<CallAttr>().body; }

Types kernel_types(const TypeIn& in) {
  const std::vector<Type> types = body_of(in.attrs).output_types();
  return {types.begin(), types.end()};
}

/// The reference: the body, equation by equation. Takes memory of its own, so the planner's runs do not use it.
void eval_kernel(const EvalIn& in) {
  Arrays x;
  for (std::size_t i = 0; i < in.x.size(); ++i)
    x.push_back(concrete(in.in[i], {}, const_cast<void*>(in.x[i])));
  const Arrays y = evaluate(body_of(in.attrs), {}, x);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (in.out[i].bytes()) std::memcpy(in.y[i], data(y[i]), in.out[i].bytes());
}

Cost cost_kernel(const CostIn& in) {
  Cost out;
  const Program& body = body_of(in.attrs);
  for (const Equation& e : body.equations) {
    boost::container::small_vector<Type, 4> x, y;
    for (const Atom& a : e.operands) x.push_back(body.type(a));
    for (VarId v : e.results) y.push_back(body.type(v));
    const Cost c = need<&Prim::cost>(*e.prim)({e.attrs, view(x), view(y)});
    out.flops += c.flops;
    out.transcendentals += c.transcendentals;
  }
  return out;
}

constexpr NoRule compiled_only = no_rule("kernels are made after all transforms");

/// A primitive that stands for the equations of its body, and may write over operand `in_place`.
constexpr Prim step_of_body(std::string_view name, int in_place = -1) {
  return {
      .name = name,
      .work = Work::call,
      .type = kernel_types,
      .eval = eval_kernel,
      .jvp = compiled_only,
      .transpose = compiled_only,
      .batch = compiled_only,
      .cost = cost_kernel,
      .in_place = in_place,
  };
}

}  // namespace

Equation kernel_equation(const Program& program, const std::vector<std::uint32_t>& members,
                         const std::vector<VarId>& results) {
  BodyMaker maker(program);
  for (std::uint32_t m : members) maker.add(program.equations[m]);
  return maker.finish(loop_kernel, results);
}

Equation turned_product_equation(const Program& program, std::uint32_t dot, std::uint32_t transpose) {
  BodyMaker maker(program);
  maker.add(program.equations[dot]);
  maker.add(program.equations[transpose]);
  return maker.finish(turned_product, {program.equations[transpose].results[0]});
}

Equation added_product_equation(const Program& program, std::uint32_t product, std::uint32_t add) {
  const Equation &p = program.equations[product], &a = program.equations[add];
  const VarId y = p.results[0];
  const Atom other = a.operands[0] == Atom::variable(y) ? a.operands[1] : a.operands[0];
  BodyMaker maker(program);
  if (p.prim == &turned_product) maker.add_body(p);
  else maker.add(p);
  Equation sum = a;
  sum.prim = &prim::add;
  sum.attrs = NoAttrs{};
  sum.operands = {other, Atom::variable(y)};
  maker.add(sum);
  return maker.finish(added_product, {a.results[0]});
}

Equation blocked_equation(const Program& program, const std::vector<std::uint32_t>& members,
                          const std::vector<VarId>& results) {
  BodyMaker maker(program);
  for (std::uint32_t m : members) maker.add(program.equations[m]);
  return maker.finish(blocked_steps, results);
}

namespace {

/// True for a sum that nothing in the body reads: it is added up where the loops are, at the same places.
bool is_last_sum(const Program& body, const Equation& e) {
  return is_reduction(*e.prim) && std::none_of(body.equations.begin(), body.equations.end(), [&](const Equation& r) {
    return std::find(r.operands.begin(), r.operands.end(), Atom::variable(e.results[0])) != r.operands.end();
  });
}

}  // namespace

bool may_overwrite(const Program& body, std::size_t input, std::size_t output) {
  const VarId x = body.inputs[input], y = body.outputs[output].var;
  const Shape& shape = body.type(x).shape;
  if (shape != body.type(y).shape || body.type(x).bytes() != body.type(y).bytes()) return false;
  std::vector<bool> reads(body.types.size());  // at the same place
  reads[x] = true;
  for (const Equation& e : body.equations) {
    const bool here = std::any_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) { return a.is_var() && reads[a.var]; });
    if (!here || is_last_sum(body, e)) continue;
    if (e.prim->work != Work::elementwise || body.type(e.results[0]).shape != shape) return false;
    for (VarId v : e.results) reads[v] = true;
  }
  return reads[y];
}

// loop_kernel: the equations of its body, point by point in one nest of loops.
constinit const Prim loop_kernel = step_of_body("loop_kernel");

// turned_product: a product, then a transpose, in one step.
constinit const Prim turned_product = step_of_body("turned_product");

// added_product: a product, perhaps transposed, added to an array, in one step.
constinit const Prim added_product = step_of_body("added_product", 2);

// blocked_steps: the equations of its body, in turn for each block of an axis.
constinit const Prim blocked_steps = step_of_body("blocked_steps");

}  // namespace anadrome
