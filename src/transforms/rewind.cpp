// The gradient of a reversible scan: a loop over segments, from the last to the first, and in each a loop over steps that undoes
// a step, then applies the derivative of that step at the state it came to. Where the first state of a segment is not the kept
// one, the segment is done again from there.
#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "transforms/backward.h"
#include "transforms/invert.h"
#include "transforms/linearize.h"
#include "transforms/loop_gradient.h"
#include "transforms/loop_plan.h"

namespace anadrome {
namespace {

/// What a run of steps works on.
struct Values {
  Arrays consts;       // of the loop
  Arrays state;        // carries behind the last step
  std::function<Arrays()> expected;  // records the carries before the first step, as they are known
  Arrays ct;           // cotangents of the active carries
  Arrays xs, ct_ys;    // slices of the loop; cotangents of its slices that are given
};
struct Undone {
  Arrays ct, sums, ct_xs;  // sums: cotangents of the wanted constants
  Array error, missed;     // f32, i32
};

class Gradient final : public LoopGradient {
 public:
  Gradient(const RewindTask& task, const std::vector<Type>& types)
      : LoopGradient(task), layout_(rewind_layout(loop_of(task.loop), types, task.anchors, task.tolerance)), inverse_(inverse_body(p_, "reversible_scan")) {}

  /// `x`: the operands that rewinding_gradient names.
  Arrays run(std::span<const Array> x) const {
    const std::size_t n = p_.operands, states = n + p_.carries, cts = layout_.segments && layout_.first ? states + p_.carries : states;
    const Arrays begin = list(part(x, p_.consts, p_.slices())), ends = list(part(x, n, states));
    const Arrays headed = cts > states ? list(part(x, states, cts)) : begin;  // the state behind the first steps
    Values v;
    v.consts = list(part(x, 0, p_.consts));
    v.xs = list(part(x, p_.slices(), n));
    std::tie(v.ct, v.ct_ys) = cotangents(x.subspan(cts), part(x, 0, n));
    if (!layout_.segments) {
      v.state = ends, v.expected = [&] { return begin; };
      return verified(undo(v, layout_.first), part(x, 0, n));
    }
    Undone u = over_segments(main_part(v), ends, headed);
    if (layout_.first) {
      v.state = headed, v.expected = [&] { return begin; }, v.ct = u.ct;
      cut(v, p_.attr.reverse ? p_.attr.length - layout_.first : 0, p_.attr.reverse ? p_.attr.length : layout_.first);
      u = joined(undo(v, layout_.first), u);
    }
    return verified(u, part(x, 0, n));
  }

 private:
  bool strict() const { return task_.anchors == 0; }

  static void cut(Values& v, std::int64_t begin, std::int64_t end) {
    for (Arrays* stacks : {&v.xs, &v.ct_ys})
      for (Array& s : *stacks) s = stack_part(s, begin, end);
  }
  Values main_part(const Values& v) const {
    Values out = v;
    const std::int64_t n = p_.attr.length, first = layout_.first;
    if (first) cut(out, p_.attr.reverse ? 0 : first, p_.attr.reverse ? n - first : n);
    for (Arrays* stacks : {&out.xs, &out.ct_ys})
      for (Array& s : *stacks) s = in_segments(s, layout_.segment);
    return out;
  }
  /// The head's results beside those of the segments.
  Undone joined(Undone head, const Undone& rest) const {
    for (std::size_t i = 0; i < head.sums.size(); ++i) head.sums[i] = op::add(rest.sums[i], head.sums[i]);
    for (std::size_t i = 0; i < head.ct_xs.size(); ++i)
      head.ct_xs[i] = p_.attr.reverse ? op::concatenate(Arrays{rest.ct_xs[i], head.ct_xs[i]}, 0) : op::concatenate(Arrays{head.ct_xs[i], rest.ct_xs[i]}, 0);
    head.error = op::max(head.error, rest.error);
    head.missed = op::add(head.missed, rest.missed);
    return head;
  }

  Arrays verified(const Undone& u, std::span<const Array> x) const {
    Arrays out = results(u.ct, u.sums, u.ct_xs, x);
    const auto smaller = [](const Array& a, const Array& b) { return a.type().bytes() < b.type().bytes(); };
    if (out.empty()) return out;
    Array& smallest = *std::min_element(out.begin(), out.end(), smaller);
    smallest = op::verify_rewind(u.error, u.missed, smallest, {layout_.segments, {layout_.predicted}, {task_.tolerance}, strict()});
    return out;
  }

  // ---- one step

  /// Runs `body` on one step after the other, backwards. `consts` and `carries` as they are, slices of `stacks`.
  Arrays backwards(std::int64_t steps, const Arrays& consts, const Arrays& carries, const Arrays& stacks, const std::function<Arrays(std::span<const Array>)>& body) const {
    std::vector<Type> types;
    const Arrays operands = concatenated({consts, carries, stacks});
    for (std::size_t i = 0; i < operands.size(); ++i)
      types.push_back(i < consts.size() + carries.size() ? operands[i].type() : slice_of(operands[i].type()));
    const ProgramPtr program = build_program("backward", types, p_.attr.body.sources, [&](const Arrays& x) { return body(x); });
    ScanAttr attr = scan_attributes(p_.attr, program, consts.size(), carries.size());
    attr.length = steps;
    attr.reverse = !p_.attr.reverse;
    return op::scan(attr, operands);
  }

  /// A scan that carries the state along, undone step by step.
  Arrays rewind(const Values& v, std::int64_t steps) const {
    const Arrays none = no_sums(v.consts);
    const std::size_t c = p_.consts, ct = c + p_.carries, sums = ct + v.ct.size(), xs = sums + none.size(), ys = xs + v.xs.size();
    return backwards(steps, v.consts, concatenated({v.state, v.ct, none}), concatenated({v.xs, v.ct_ys}), [&](std::span<const Array> x) {
      const Arrays known = concatenated({part(x, 0, c), part(x, xs, ys), part(x, c, ct)});
      const Arrays before = inline_program(*inverse_->program, {}, known, p_.attr.body.sources.get());
      const Arrays inputs = concatenated({part(x, 0, c), before, part(x, xs, ys)});
      const Arrays g = derivative(inputs, part(x, ct, sums), x.subspan(ys), part(x, sums, xs));
      return concatenated({before, in_order(g, part(x, ct, sums))});
    });
  }

  /// The same from the state before the first step: each state is computed from there. Takes no memory for states.
  Arrays again(const Values& v, std::int64_t steps) const {
    Array position = op::iota(DType::i32, {steps}, 0);
    if (p_.attr.reverse) position = op::rev(position, {0});
    const Arrays none = no_sums(v.consts);
    const std::size_t c = p_.consts, all = c + p_.carries, whole = all + v.xs.size(), sums = whole + v.ct.size(), at = sums + none.size(), xs = at + 1, ys = xs + v.xs.size();
    const Arrays consts = concatenated({v.consts, v.expected(), v.xs});
    return backwards(steps, consts, concatenated({v.ct, none}), concatenated({{&position, 1}, v.xs, v.ct_ys}), [&](std::span<const Array> x) {
      const Arrays before = advanced(part(x, 0, c), part(x, c, all), part(x, all, whole), op::broadcast_in_dim(op::number(0, DType::i32), {}, {}), x[at], steps);
      const Arrays inputs = concatenated({part(x, 0, c), before, part(x, xs, ys)});
      return in_order(derivative(inputs, part(x, whole, sums), x.subspan(ys), part(x, sums, at)), part(x, whole, sums));
    });
  }

  // ---- segments

  Undone undo(const Values& v, std::int64_t steps) const {
    Arrays sizes;  // before the rewind, which can then write over the state
    for (const Array& s : v.state) sizes.push_back(is_float(s.dtype()) && s.type().elements() ? largest(s) : Array());
    const Arrays r = rewind(v, steps), expected = v.expected();
    Undone u;
    u.error = error(part(r, 0, p_.carries), expected, sizes);
    u.missed = op::number(0, DType::i32);
    Arrays got(r.begin() + static_cast<std::ptrdiff_t>(p_.carries), r.end());
    if (!strict()) {
      u.missed = op::rewind_missed(u.error, task_.tolerance);
      got = kept_or_again(v, expected, steps, u.missed, got);
    }
    const std::size_t sums = v.ct.size(), slices = sums + no_sums(v.consts).size();
    u.ct = list(part(got, 0, sums));
    u.sums = list(part(got, sums, slices));
    u.ct_xs = list(part(got, slices, got.size()));
    return u;
  }

  /// What the rewind gave, or the segment done again.
  Arrays kept_or_again(const Values& v, const Arrays& expected, std::int64_t steps, const Array& missed, const Arrays& got) const {
    const Arrays operands = concatenated({v.consts, expected, v.ct, v.xs, v.ct_ys, got});
    const std::vector<Type> types = types_of(operands);
    const auto& sources = p_.attr.body.sources;
    const auto branch = [&](bool repeat) -> SubProgram {
      return {build_program("branch", types, sources, [&](const Arrays& x) {
        const std::span<const Array> all(x);
        std::size_t next = 0;
        const auto take = [&](const Arrays& like) { return next += like.size(), list(part(all, next - like.size(), next)); };
        Values w;
        w.consts = take(v.consts);
        w.expected = [begin = take(expected)] { return begin; };
        w.ct = take(v.ct), w.xs = take(v.xs), w.ct_ys = take(v.ct_ys);
        return repeat ? again(w, steps) : list(all.subspan(next));
      }), sources};
    };
    return op::cond({{branch(false), branch(true)}}, concatenated({{&missed, 1}, operands}));
  }

  /// The largest difference of a carry, relative to its own size; where that is 0, to its size at the other end of the rewind.
  static Array error(std::span<const Array> got, std::span<const Array> want, std::span<const Array> end_sizes) {
    Array out = op::number(0, DType::f32);
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (got[k].type().elements() == 0) continue;
      out = op::max(out, is_float(got[k].dtype()) ? relative_error(got[k], want[k], end_sizes[k]) : inequality(got[k], want[k]));
    }
    return op::broadcast_in_dim(out, {}, {});
  }
  static Array largest(const Array& x) {
    Ints axes;
    for (int k = 0; k < x.rank(); ++k) axes.push_back(k);
    const Array most = axes.empty() ? op::abs(x) : op::reduce_max(op::abs(x), axes);
    return most.dtype() == DType::f64 ? most : op::convert(most, DType::f32);
  }
  static Array relative_error(const Array& got, const Array& want, const Array& other) {
    const Array own = largest(want), difference = largest(op::sub(got, want));
    const Array size = op::select(op::gt(own, op::number_like(0, own)), own, other);
    const Array floor = op::number_like(std::numeric_limits<float>::min(), own);
    return op::convert(op::div(difference, op::max(size, floor)), DType::f32);
  }
  /// Infinite where anything differs.
  static Array inequality(const Array& got, const Array& want) {
    Ints axes;
    for (int k = 0; k < got.rank(); ++k) axes.push_back(k);
    const Array differs = axes.empty() ? op::ne(got, want) : op::reduce_or(op::ne(got, want), axes);
    return op::select(differs, op::number(std::numeric_limits<double>::infinity(), DType::f32), op::number(0, DType::f32));
  }

  /// The scan over segments. `v` holds stacks of segments; `ends` the states behind each, `headed` the one before them all.
  Undone over_segments(const Values& v, const Arrays& ends, const Arrays& headed) const {
    const Array none = op::broadcast_in_dim(op::number(0, DType::f32), {}, {}), no_runs = op::broadcast_in_dim(op::number(0, DType::i32), {}, {});
    const Array numbered = op::iota(DType::i32, {layout_.segments}, 0);
    const Arrays zeros = no_sums(v.consts), consts = concatenated({v.consts, ends, headed});
    const std::size_t c = p_.consts, head = c + p_.carries, ct = head + p_.carries, sums = ct + v.ct.size(), error = sums + zeros.size();
    const std::size_t number = error + 2, state = number + 1, xs = state + p_.carries, ys = xs + v.xs.size();
    const Arrays carries = concatenated({v.ct, zeros, {&none, 1}, {&no_runs, 1}});
    const Arrays r = backwards(layout_.segments, consts, carries, concatenated({{&numbered, 1}, ends, v.xs, v.ct_ys}), [&](std::span<const Array> x) {
      const auto before = [&] { return state_before(x[number], part(x, c, head), part(x, head, ct)); };
      const Values w{list(part(x, 0, c)), list(part(x, state, xs)), before, list(part(x, ct, sums)), list(part(x, xs, ys)), list(x.subspan(ys))};
      Undone u = undo(w, layout_.segment);
      for (std::size_t i = 0; i < u.sums.size(); ++i) u.sums[i] = op::add(x[sums + i], u.sums[i]);
      const Array worst = op::max(x[error], u.error), runs = op::add(x[error + 1], u.missed);
      return concatenated({u.ct, u.sums, {&worst, 1}, {&runs, 1}, u.ct_xs});
    });
    const std::size_t m = v.ct.size(), e = m + zeros.size();
    Undone u{list(part(r, 0, m)), list(part(r, m, e)), {}, r[e], r[e + 1]};
    for (std::size_t i = e + 2; i < r.size(); ++i) u.ct_xs.push_back(out_of_segments(r[i]));
    return u;
  }
  /// The state before a segment: the one behind the segment before it.
  Arrays state_before(const Array& segment, std::span<const Array> ends, std::span<const Array> headed) const {
    const bool reverse = p_.attr.reverse;
    const Array one = op::number(1, DType::i32), first = op::number(reverse ? static_cast<double>(layout_.segments - 1) : 0, DType::i32);
    const Array is_first = op::eq(segment, first);
    Arrays out = slices_at(ends, reverse ? op::add(segment, one) : op::sub(segment, one));
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = op::select(is_first, headed[k], out[k]);
    return out;
  }

  RewindLayout layout_;
  std::shared_ptr<const InverseProgram> inverse_;
};

}  // namespace

ProgramPtr rewinding_gradient(const RewindTask& task, const std::vector<Type>& types) {
  const Gradient gradient(task, types);
  return build_program("rewind", types, task.loop.sources, [&](const Arrays& x) { return gradient.run(x); });
}

ProgramPtr storing_gradient(const RewindTask& task, const std::vector<Type>& types) {
  UseLoopPlan stored(nullptr);
  const auto lin = linearize_program(task.loop.program, task.active);
  const std::size_t n = loop_of(task.loop).operands.size();
  const auto given = static_cast<std::size_t>(std::count(task.given.begin(), task.given.end(), 1));
  return build_program("gradient", types, task.loop.sources, [&](const Arrays& x) {
    const std::span<const Array> all(x);
    const Arrays r = inline_program(*lin->primal, {}, all.subspan(0, n));
    Arrays known = lin->residual_values(all.subspan(0, n), r);
    Mask linear(known.size(), 0), wanted = linear;
    for (std::size_t i = 0; i < n; ++i)
      if (task.active[i]) linear.push_back(1), wanted.push_back(task.wanted[i]);
    known.resize(linear.size());
    const Arrays g = backward(*lin->tangent, linear, wanted, known, spread(task.given, all.subspan(x.size() - given)));
    Arrays out;
    for (std::size_t i = 0, t = lin->residuals.size(); i < n; ++i) {
      if (!task.active[i]) continue;
      if (task.wanted[i]) out.push_back(g[t].defined() ? g[t] : op::zeros(x[i].type()));
      ++t;
    }
    return out;
  });
}

}  // namespace anadrome
