// The standard checks.
#include "rules/checks.h"

#include <cmath>

#include "anadrome/ops/shape.h"
#include "primitives/prims.h"
#include "support/derivatives.h"

namespace anadrome::testing {
namespace {

constexpr std::uint32_t seed = 20240917;

/// Numbers that all differ over all arguments of a call: a shuffled grid over each argument's interval.
class Filler {
 public:
  Filler(const std::vector<Argument>& arguments, std::uint32_t seed) : random_(seed) {
    for (const Argument& a : arguments) total_ += a.type.elements();
    for (std::int64_t i = 0; i < total_; ++i) places_.push_back(i);
    std::shuffle(places_.begin(), places_.end(), random_);
  }
  Array fill(const Argument& a) {
    Numbers v;
    for (std::int64_t i = 0; i < a.type.elements(); ++i) v.push_back(number(a));
    return make_array(a.type, v);
  }

 private:
  double number(const Argument& a) {
    const double share = (static_cast<double>(places_[next_++]) + 0.5) / static_cast<double>(total_);
    if (a.fill == Fill::apart) return a.lo + (a.hi - a.lo) * share;
    if (a.fill == Fill::off_integers) {
      const double v = a.lo + (a.hi - a.lo) * share, whole = std::floor(v);
      return whole + 0.2 + 0.6 * (v - whole);
    }
    return a.lo + static_cast<double>(random_() % static_cast<std::uint32_t>(a.hi - a.lo + 1));
  }

  std::mt19937 random_;
  std::int64_t total_ = 0;
  std::vector<std::int64_t> places_;
  std::size_t next_ = 0;
};

Arrays fill(const Case& c, std::uint32_t number) {
  Filler filler(c.arguments, seed + number);
  Arrays x;
  for (const Argument& a : c.arguments) x.push_back(filler.fill(a));
  return x;
}

Function in_context(const Case& c, const Function& f) {
  if (c.axis_name.empty()) return f;
  return [f, name = c.axis_name](const Arrays& x) {
    return functional::vmap(f, x, std::vector<int>(x.size(), 0), 0, name);
  };
}

/// Arguments of the function itself, without the axis of the context.
Arrays without_context(const Case& c, const Arrays& x) {
  if (c.axis_name.empty()) return x;
  Arrays out;
  for (const Array& a : x) out.push_back(part_of(a, 0, 0));
  return out;
}

class Checker {
 public:
  Checker(const Row& row, const Case& c, Failures& failures)
      : row_(row), c_(c), failures_(failures), random_(seed) {
    x_ = fill(c, 0);
    laws_ = {[&c](const Function& f, const Arrays& x) { return in_context(c, f)(x); }, c.tolerance,
             c.exact_tolerance, [this](const std::string& what) { fail(what); }};
  }

  void rules();
  void value();
  void jvp() {
    if (!has_forward()) return;
    for (const Mask& active : masks(1)) laws_.check_tangent(c_.f, x_, active, random_);
  }
  void linear() {
    for (const Mask& active : masks(1)) {
      if (c_.transposed) check_transposed();
      else if (c_.reverse_only) laws_.check_pulled(c_.f, x_, active, random_);
      else if (c_.forward_only) laws_.check_pushed(c_.f, x_, active, random_);
      else laws_.check_linear(c_.f, x_, active, random_);
    }
  }
  void vmap();
  void second();
  void compiled();
  void cost();
  void text();

 private:
  bool has_forward() const { return !c_.reverse_only && !c_.transposed; }
  void check_transposed();
  void fail(const std::string& what) { failures_.push_back(c_.name + ": " + what); }
  void require(bool ok, const std::string& what) {
    if (!ok) fail(what);
  }
  template <class R> void require_rule(const R& rule, const char* kind, bool must) {
    if (rule) return;
    std::string what = "the missing rule ";
    what += kind;
    if (must) fail(what + " is needed");
    if (!rule.why || !*rule.why || std::string_view(rule.why) == "not stated") fail(what + " states no reason");
  }

  /// Each argument that can be differentiated `order` times alone, then all of them.
  std::vector<Mask> masks(int order) const {
    std::vector<Mask> out;
    Mask whole(c_.arguments.size(), false);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (c_.arguments[i].order < order) continue;
      Mask one(whole.size(), false);
      one[i] = whole[i] = true;
      out.push_back(one);
    }
    if (out.size() > 1) out.push_back(whole);
    return out;
  }
  /// The function, and where it has derivatives, tangent and gradient; with arguments for each.
  struct Derived {
    const char* what;
    Function f;
    Arrays x;
  };
  std::vector<Derived> derived(const Arrays& x);
  void check_vmap(const Derived& d, const std::vector<Arrays>& parts, const std::vector<int>& axes,
                  int out_axis);
  const Equation& the_equation(const Program& p);

  const Row& row_;
  const Case& c_;
  Failures& failures_;
  std::mt19937 random_;
  Arrays x_;
  Laws laws_;
};

void Checker::rules() {
  const Prim& p = *row_.prim;
  require_rule(p.type, "type", true);
  require_rule(p.eval, "eval", !c_.transposed);
  require_rule(p.cost, "cost", true);
  require_rule(p.jvp, "jvp", false);
  require_rule(p.transpose, "transpose", false);
  require_rule(p.batch, "batch", false);
}

double value_tolerance(DType t) {
  return t == f64 ? 1e-11 : t == f32 ? 1e-6 : t == f16 ? 2e-3 : t == bf16 ? 2e-2 : 0;
}

/// The transpose, once with all its cotangents wanted, against what the case states.
void Checker::check_transposed() {
  Arrays known, linear;
  for (std::size_t i = 0; i < x_.size(); ++i) (c_.arguments[i].order > 0 ? linear : known).push_back(x_[i]);
  const Function f = [&](const Arrays& t) { return c_.f(joined(known, t)); };
  Arrays example, ct;
  for (const Array& t : linear) example.push_back(abstract(t.dtype(), t.shape()));
  for (const Type& t : functional::make_program(f, example, {"case", {}, {}}).output_types()) ct.push_back(random_array(t, random_));
  compare(functional::linear_transpose(f, example, {"case", {}, {}})(ct), c_.transposed(joined(known, ct)), c_.exact_tolerance,
          "the transpose", laws_.fail);
}

void Checker::value() {
  if (c_.transposed) return;
  const Arrays y = in_context(c_, c_.f)(x_);
  if (!c_.value) return;
  const std::vector<Numbers> want = c_.value(x_);
  require(want.size() == y.size(), "value: " + std::to_string(y.size()) + " results");
  for (std::size_t i = 0; i < y.size() && i < want.size(); ++i) {
    const double d = difference(numbers(y[i]), want[i]);
    if (!(d <= value_tolerance(y[i].dtype())))
      fail(
          "value: result " + std::to_string(i) + " is off by " + std::to_string(d) + "\n    got    " +
          show(y[i]) + "\n    wanted " +
          (want[i].size() == numbers(y[i]).size() ? show(make_array(y[i].type(), want[i])) : "another size"));
  }
}

std::vector<Checker::Derived> Checker::derived(const Arrays& x) {
  std::vector<Derived> out{{"the function", c_.f, x}};
  const std::vector<Mask> all = masks(1);
  if (all.empty() || c_.transposed) return out;
  const Mask& active = all.back();
  if (has_forward()) out.push_back({"its tangent", tangent_by_linearize(c_.f, active), joined(x, random_like(x, active, random_))});
  if (c_.forward_only) return out;
  Arrays ct;
  for (const Array& y : float_outputs(in_context(c_, c_.f)(x))) ct.push_back(random_array(y.type(), random_));
  if (!ct.empty()) out.push_back({"its gradient", gradient_of(c_.f, active), joined(x, ct)});
  return out;
}

/// vmap over the marked arguments (axis -1: not batched) against one call per part.
void Checker::check_vmap(const Derived& d, const std::vector<Arrays>& parts, const std::vector<int>& axes,
                         int out_axis) {
  const int context = c_.axis_name.empty() ? 0 : 1;
  const auto size = static_cast<std::int64_t>(parts.size());
  Arrays batched;
  std::vector<int> in;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Arrays all;
    for (const Arrays& p : parts) all.push_back(p[i]);
    batched.push_back(axes[i] < 0 ? parts[0][i] : stacked(all, axes[i] + context));
    in.push_back(axes[i] < 0 ? functional::not_batched : axes[i]);
  }
  const Function mapped = [&](const Arrays& x) { return functional::vmap(d.f, x, in, out_axis); };
  const Arrays y = in_context(c_, mapped)(batched);
  for (std::int64_t k = 0; k < size; ++k) {
    Arrays one, part;
    for (std::size_t i = 0; i < axes.size(); ++i)
      one.push_back(parts[axes[i] < 0 ? 0 : static_cast<std::size_t>(k)][i]);
    const Arrays want = in_context(c_, d.f)(one);
    for (std::size_t i = 0; i < y.size(); ++i)
      part.push_back(part_of(y[i], out_axis < 0 ? y[i].rank() - 1 : out_axis + context, k));
    std::string what = std::string("vmap of ") + d.what + " over axes";
    for (int a : axes) what += ' ' + (a < 0 ? std::string("-") : std::to_string(a));
    compare(part, want, c_.exact_tolerance, what + ", part " + std::to_string(k), laws_.fail);
  }
}

void Checker::vmap() {
  if (c_.transposed) return;
  const int context = c_.axis_name.empty() ? 0 : 1;
  std::vector<std::vector<Derived>> parts;
  for (std::uint32_t k = 0; k < 3; ++k) parts.push_back(derived(fill(c_, k)));
  for (std::size_t which = 0; which < parts[0].size(); ++which) {
    const Derived& d = parts[0][which];
    std::vector<Arrays> x;
    for (const auto& p : parts) x.push_back(p[which].x);
    const std::size_t n = d.x.size();
    if (n == 0) return;
    std::vector<int> front(n, 0), back, mixed;
    for (std::size_t i = 0; i < n; ++i) back.push_back(d.x[i].rank() - context);
    for (std::size_t i = 0; i < n; ++i) mixed.push_back(i % 2 ? back[i] : back[i] / 2);
    check_vmap(d, x, front, 0);
    check_vmap(d, x, back, -1);
    check_vmap(d, x, mixed, 0);
    for (std::size_t i = 0; n > 1 && i < n; ++i) {
      std::vector<int> one(n, -1);
      check_vmap(d, x, (one[i] = 0, one), 0);
      check_vmap(d, x, (one[i] = back[i], one), -1);
    }
  }
}

void Checker::second() {
  const std::vector<Mask> all = masks(2);
  if (all.empty() || c_.transposed) return;
  Mask active = all.back();
  const Mask inner = active;
  if (has_forward()) {
    const Arrays t = random_like(x_, inner, random_);
    active.resize(x_.size() + t.size(), true);
    const Function tangent = tangent_by_jvp(c_.f, inner);
    laws_.check_tangent(tangent, joined(x_, t), active, random_);
    if (c_.forward_only) return laws_.check_pushed(tangent, joined(x_, t), active, random_);
    laws_.check_linear(tangent, joined(x_, t), active, random_);
  }
  Arrays ct;
  for (const Array& y : float_outputs(in_context(c_, c_.f)(x_)))
    ct.push_back(random_array(y.type(), random_));
  if (ct.empty()) return;
  active = inner;
  active.resize(x_.size() + ct.size(), true);
  const Function gradient = gradient_of(c_.f, inner);
  laws_.check_tangent(gradient, joined(x_, ct), active, random_);
  laws_.check_linear(gradient, joined(x_, ct), active, random_);
}

void Checker::compiled() {
  if (c_.transposed) return;
  for (const Derived& d : derived(x_)) {
    const Function f = in_context(c_, d.f);
    const Arrays eager = f(d.x), native = functional::run_jit(f, d.x, "native"),
                 precompiled = functional::run_jit(f, d.x, "precompiled"), eval = functional::run_jit(f, d.x, "eval");
    // Generated code rounds its own way; the precompiled kernels are those of eval. Loops run generated code in both, and
    // in derivatives outside of programs.
    const auto same = [&](const Arrays& got, const char* which) {
      compare(got, eval, c_.exact_tolerance, std::string(which) + " and eval: " + d.what,
              [this](const std::string& text) { fail(text); });
    };
    same(native, "native");
    if (row_.prim->work == Work::call && row_.prim != &prim::call) {
      same(precompiled, "precompiled");
      same(eager, "eager");
      continue;
    }
    for (std::size_t i = 0; i < eager.size(); ++i) {
      if (!identical(precompiled[i], eval[i]))
        fail(std::string("precompiled differs from eval: ") + d.what + "\n    " + show(precompiled[i]) + "\n    " +
             show(eval[i]));
      if (!identical(eval[i], eager[i]))
        fail(std::string("compiled differs from eager: ") + d.what + "\n    " + show(eval[i]) + "\n    " +
             show(eager[i]));
    }
  }
}

const Equation& Checker::the_equation(const Program& p) {
  const Equation* found = nullptr;
  int count = 0;
  for (const Equation& e : p.equations)
    if (e.prim == row_.prim) found = &e, ++count;
  if (count != 1)
    throw std::runtime_error("the case records " + std::to_string(count) + " equations of the primitive");
  return *found;
}

void Checker::cost() {
  const Program p = functional::make_program(c_.f, without_context(c_, x_), {"case", {}, {}});
  const Equation& e = the_equation(p);
  std::vector<Type> in, out;
  for (const Atom& a : e.operands) in.push_back(p.type(a));
  for (VarId r : e.results) out.push_back(p.types[r]);
  const Cost got = need<&Prim::cost>(*e.prim)({e.attrs, in, out});
  if (got.flops != c_.cost.flops || got.transcendentals != c_.cost.transcendentals)
    fail("cost: " + std::to_string(got.flops) + " flops and " + std::to_string(got.transcendentals) +
         " transcendentals; the table states " + std::to_string(c_.cost.flops) + " and " +
         std::to_string(c_.cost.transcendentals));
}

void Checker::text() {
  for (const Derived& d : derived(x_)) {
    const Program p = functional::make_program(d.f, without_context(c_, d.x), {"case", {}, {}});
    verify(p);
    const std::string text = to_string(p);
    const Program back = parse_program(text);
    require(same_structure(p, back) && to_string(back) == text,
            std::string("text of ") + d.what + " reads back as another program:\n" + text);
  }
}

}  // namespace

std::string_view name(Check check) {
  constexpr std::string_view names[] = {"rules",  "value",    "jvp",  "linear", "vmap",
                                        "second", "compiled", "cost", "text"};
  return names[static_cast<std::size_t>(check)];
}

Failures run_check(const Row& row, const Case& c, Check check) {
  Failures failures;
  try {
    Checker checker(row, c, failures);
    switch (check) {
      case Check::rules:
        checker.rules();
        break;
      case Check::value:
        checker.value();
        break;
      case Check::jvp:
        checker.jvp();
        break;
      case Check::linear:
        checker.linear();
        break;
      case Check::vmap:
        checker.vmap();
        break;
      case Check::second:
        checker.second();
        break;
      case Check::compiled:
        checker.compiled();
        break;
      case Check::cost:
        checker.cost();
        break;
      case Check::text:
        checker.text();
        break;
    }
  } catch (const std::exception& e) {
    failures.push_back(c.name + ": " + std::string(name(check)) + " threw: " + e.what());
  }
  return failures;
}

}  // namespace anadrome::testing
