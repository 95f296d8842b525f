// jvp, linearize, vjp, grad and linear_transpose on lists of arrays.
#include "api/prepare.h"
#include "primitives/op.h"
#include "transforms/backward.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/loop_plan.h"
#include "transforms/memo.h"

namespace anadrome::functional {
namespace {

/// A gradient, tangent or cotangent for a leaf: as given, else zeros or no_gradient.
Array filled(const Array& value, const Type& type) {
  if (value.defined()) return value;
  return is_differentiable(type.dtype) ? op::zeros(type) : Array::no_gradient(type.shape);
}

std::vector<Type> output_types(const Program& program, std::size_t count) {
  std::vector<Type> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(program.type(program.outputs[i]));
  return out;
}

void check_tangents(const Arrays& x, const Arrays& t, const Context& context) {
  if (x.size() != t.size())
    throw TypeError(context.name + ": there are " + std::to_string(x.size()) + " arguments and " +
                    std::to_string(t.size()) + " tangents; give one tangent per argument." + at(context));
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!t[i].defined() || t[i].is_no_gradient()) continue;
    if (!is_differentiable(x[i].dtype()))
      throw TypeError(context.name + ": " + leaf_name(context, i) + " is " + to_string(x[i].type()) +
                      ", which carries no derivative, but its tangent is " + to_string(t[i].type()) +
                      ". Pass no_gradient for it." + at(context));
    if (t[i].type() != x[i].type())
      throw TypeError(context.name + ": " + leaf_name(context, i) + " is " + to_string(x[i].type()) +
                      ", its tangent is " + to_string(t[i].type()) +
                      ". A tangent has the shape and dtype of its argument." + at(context));
  }
}

/// The context with a line: where the caller's is not known, that of the function's last result.
Context with_line(Context context, const Prepared& p) {
  if (at(context).empty()) context.source = p.source;
  return context;
}

/// Marks and keeps the tangents that are given.
Mask given_tangents(const Arrays& t, Arrays& values) {
  Mask out;
  for (const Array& v : t) {
    const bool given = v.defined() && !v.is_no_gradient();
    out.push_back(given);
    if (given) values.push_back(v);
  }
  return out;
}

}  // namespace

JvpResult jvp(const Function& f, const Arrays& x, const Arrays& t, const Context& context) {
  const Prepared p = prepare(context, f, x, true);
  check_tangents(x, t, with_line(context, p));
  Arrays tangents;
  const Mask active = given_tangents(t, tangents);
  const auto joint = jvp_program(p.program, p.argument_mask(active));
  Arrays args = p.arguments(x);
  args.insert(args.end(), tangents.begin(), tangents.end());
  const Arrays r = apply(joint->program, args, p.sources);
  const std::size_t n = p.program->outputs.size();
  JvpResult out{{r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n)}, {}};
  std::size_t next = n;
  for (std::size_t i = 0; i < n; ++i)
    out.t.push_back(filled(joint->out_active[i] ? r[next++] : Array(), p.program->type(p.program->outputs[i])));
  return out;
}

struct LinearMap::State {
  ProgramPtr tangent;  // captures: residuals; inputs: tangents of the active inputs
  Arrays residuals;
  anadrome::Mask active, wanted, out_active;  // by input, by input, by output
  std::vector<Type> inputs, outputs;
  std::shared_ptr<const SourceTable> sources;
  Context context;
};

Arrays LinearMap::push(const Arrays& t) const {
  const State& s = *state_;
  Arrays args = s.residuals;
  if (t.size() != s.inputs.size())
    throw TypeError(s.context.name + ": the linear map takes " + std::to_string(s.inputs.size()) +
                    " tangents and was given " + std::to_string(t.size()) + "." + at(s.context));
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!s.active[i]) continue;
    const Array v = t[i].defined() ? t[i] : op::zeros(s.inputs[i]);
    if (v.type() != s.inputs[i])
      throw TypeError(s.context.name + ": " + leaf_name(s.context, i) + " is " + to_string(s.inputs[i]) +
                      ", its tangent is " + to_string(v.type()) +
                      ". A tangent has the shape and dtype of its argument." + at(s.context));
    args.push_back(v);
  }
  const Arrays r = apply(closed(s.tangent), args, s.sources);
  Arrays out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < s.outputs.size(); ++i)
    out.push_back(filled(s.out_active[i] ? r[next++] : Array(), s.outputs[i]));
  return out;
}

namespace {

void check_cotangent(const Array& ct, const Type& want, std::size_t i, const Context& context) {
  if (!ct.defined() || ct.is_no_gradient()) return;
  if (!is_differentiable(want.dtype))
    throw TypeError(context.name + ": output " + std::to_string(i) + " is " + to_string(want) +
                    ", which carries no derivative, but its cotangent is " + to_string(ct.type()) +
                    ". Pass no_gradient for it." + at(context));
  if (ct.type() != want)
    throw TypeError(context.name + ": output " + std::to_string(i) + " is " + to_string(want) +
                    ", its cotangent is " + to_string(ct.type()) +
                    ". A cotangent has the shape and dtype of its output." + at(context));
}

}  // namespace

Arrays LinearMap::pull(const Arrays& ct) const {
  const State& s = *state_;
  if (ct.size() != s.outputs.size())
    throw TypeError(s.context.name + ": the pullback takes " + std::to_string(s.outputs.size()) +
                    " cotangents and was given " + std::to_string(ct.size()) + "." + at(s.context));
  Arrays args = s.residuals;
  anadrome::Mask given;
  for (std::size_t i = 0; i < ct.size(); ++i) {
    check_cotangent(ct[i], s.outputs[i], i, s.context);
    if (!s.out_active[i]) continue;
    given.push_back(ct[i].defined() && !ct[i].is_no_gradient());
    if (given.back()) args.push_back(ct[i]);
  }
  anadrome::Mask linear(s.residuals.size(), 0), wanted(s.residuals.size(), 0);
  for (std::size_t i = 0; i < s.active.size(); ++i) {
    if (!s.active[i]) continue;
    linear.push_back(1);
    wanted.push_back(s.wanted[i]);
  }
  const auto back = backward_program(closed(s.tangent), linear, wanted, given);
  const Arrays r = apply(back->program, args, s.sources);
  Arrays out;
  std::size_t place = s.residuals.size(), next = 0;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    Array g;
    if (s.active[i] && back->reached[place++]) g = r[next++];
    out.push_back(s.wanted[i] ? filled(g, s.inputs[i]) : Array());
  }
  return out;
}

const Program& LinearMap::program() const { return *state_->tangent; }
const Arrays& LinearMap::residuals() const { return state_->residuals; }

LinearizeResult linearize(const Function& f, const Arrays& x, const Mask& wanted, const Context& context) {
  const Prepared p = prepare(context, f, x, true);
  auto s = std::make_shared<LinearMap::State>();
  functional::Mask active;
  for (std::size_t i = 0; i < x.size(); ++i) {
    s->inputs.push_back(x[i].type());
    active.push_back(wanted[i] && is_differentiable(x[i].dtype()));
    s->wanted.push_back(wanted[i]);
    s->active.push_back(active.back());
  }
  const auto lin = linearize_program(p.program, p.argument_mask(active));
  const Arrays args = p.arguments(x);
  const Arrays r = apply(lin->primal, args, p.sources);
  const std::size_t n = p.program->outputs.size();
  s->tangent = lin->tangent;
  s->residuals = lin->residual_values(args, r);
  s->out_active = lin->out_active;
  s->outputs = output_types(*p.program, n);
  s->sources = p.sources;
  s->context = with_line(context, p);
  return {{r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n)}, LinearMap(s)};
}

VjpResult vjp(const Function& f, const Arrays& x, const Mask& wanted, const Context& context) {
  LinearizeResult r = linearize(f, x, wanted, context);
  return {std::move(r.y), [linear = r.linear](const Arrays& ct) { return linear.pull(ct); }};
}

namespace {

void check_wanted(const Arrays& x, const Mask& wanted, const Context& context) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (wanted[i] && !is_differentiable(x[i].dtype()))
      throw TypeError(context.name + ": " + leaf_name(context, i) + " is " + to_string(x[i].type()) +
                      "; only float arguments have a gradient. Make it a C++ integer, convert it to a float, or "
                      "differentiate in the other arguments only: grad<I...>(f)." +
                      at(context));
}

void check_scalar(const Prepared& p, const Context& context) {
  const Type type = p.program->type(p.program->outputs.at(0));
  if (type.rank() != 0)
    throw TypeError(context.name + ": the function must return one number and returns " + to_string(type) +
                    ". Reduce it, for example with sum(...), or use jacrev or vjp." +
                    (at(context).empty() ? at_source(p.source) : at(context)));
  if (!is_differentiable(type.dtype))
    throw TypeError(context.name + ": the function returns " + to_string(type) +
                    ", which carries no derivative; it must return a float." +
                    (at(context).empty() ? at_source(p.source) : at(context)));
}

/// Outputs: the primal outputs when asked for, then a gradient per active argument.
ProgramPtr gradient_program(const ProgramPtr& program, const anadrome::Mask& active, bool with_value) {
  std::vector<std::int64_t> key(active.begin(), active.end());
  key.push_back(with_value);
  key.push_back(loop_plan_number());
  const auto holder = Memo::instance().get<ProgramPtr>(
      program, MemoKind::gradient, key,
      [&] {
        const auto lin = linearize_program(program, active);
        const std::size_t n = program->outputs.size();
        auto made = build_program("grad", argument_types(*program), program->sources, [&](const Arrays& x) {
          const Arrays r = inline_program(*lin->primal, {}, x);
          Arrays out;
          if (with_value) out.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n));
          Arrays known = lin->residual_values(x, r), ct(lin->tangent->outputs.size());
          anadrome::Mask linear(known.size(), 0);
          for (std::size_t i = 0; i < x.size(); ++i)
            if (active[i]) linear.push_back(1);
          known.resize(linear.size());
          if (lin->out_active[0]) ct[0] = op::number(1, program->type(program->outputs[0]).dtype);
          const Arrays g = backward(*lin->tangent, linear, linear, known, ct);
          std::size_t next = lin->residuals.size();
          for (std::size_t i = 0; i < x.size(); ++i)
            if (active[i]) out.push_back(filled(g[next++], x[i].type()));
          return out;
        });
        return std::make_shared<const ProgramPtr>(made);
      },
      [](const ProgramPtr& p) { return program_bytes(*p); });
  return *holder;
}

}  // namespace

GradResult grad(const Function& f, const Arrays& x, const Mask& wanted, bool with_value, const Context& context) {
  check_values(x, context);
  check_wanted(x, wanted, context);
  const Prepared p = prepare(context, f, x, true);
  check_scalar(p, context);
  const ProgramPtr program = gradient_program(p.program, p.argument_mask(wanted), with_value);
  Arrays r = apply(program, p.arguments(x), p.sources);
  const auto n = with_value ? static_cast<std::ptrdiff_t>(p.program->outputs.size()) : 0;
  return {{r.begin(), r.begin() + n}, {r.begin() + n, r.end()}};
}

std::function<Arrays(const Arrays&)> linear_transpose(const Function& f, const Arrays& example,
                                                      const Context& context) {
  std::vector<Type> types;
  functional::Mask active;
  for (std::size_t i = 0; i < example.size(); ++i) {
    if (!example[i].defined()) checked_types(example, context);
    types.push_back(example[i].type());
    active.push_back(is_differentiable(types.back().dtype));
    if (!active.back())
      throw TypeError(context.name + ": " + leaf_name(context, i) + " is " + to_string(types.back()) +
                      "; only float arguments can be transposed." + at(context));
  }
  const Prepared p = prepare_types(context, f, types, {});
  const anadrome::Mask linear = p.argument_mask(active);
  return [p, linear, context = with_line(context, p), types](const Arrays& ct) {
    const std::size_t n = p.program->outputs.size();
    if (ct.size() != n)
      throw TypeError(context.name + ": the function has " + std::to_string(n) + " outputs and " +
                      std::to_string(ct.size()) + " cotangents were given." + at(context));
    anadrome::Mask given;
    Arrays args = p.leading;
    for (std::size_t i = 0; i < n; ++i) {
      check_cotangent(ct[i], p.program->type(p.program->outputs[i]), i, context);
      given.push_back(ct[i].defined() && !ct[i].is_no_gradient());
      if (given.back()) args.push_back(ct[i]);
    }
    std::shared_ptr<const BackwardProgram> back;
    try {
      back = backward_program(p.program, linear, linear, given);
    } catch (const RuleError& e) {
      throw TypeError(context.name + ": the function is not linear in its arguments: " + e.what());
    }
    const Arrays r = apply(back->program, args, p.sources);
    Arrays out;
    std::size_t next = 0;
    for (std::size_t i = 0; i < types.size(); ++i)
      out.push_back(filled(back->reached[p.leading.size() + i] ? r[next++] : Array(), types[i]));
    return out;
  };
}

}  // namespace anadrome::functional
