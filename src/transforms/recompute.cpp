// The gradient of a loop that keeps a few of its states: a scan over the rows of a schedule, which goes from a kept state to the
// one before the next step, or to one that is to be kept.
#include <tuple>

#include "transforms/loop_gradient.h"

namespace anadrome {
namespace {

class Recomputing final : public LoopGradient {
 public:
  using LoopGradient::LoopGradient;

  /// `x`: the operands of the loop, then the given cotangents.
  Arrays run(std::span<const Array> x) const {
    const std::size_t n = p_.operands;
    Fixed f{list(part(x, 0, p_.consts)), list(part(x, p_.consts, p_.slices())), list(part(x, p_.slices(), n)), {}};
    Moving m;
    std::tie(m.ct, f.ct_ys) = cotangents(x.subspan(n), part(x, 0, n));
    m.sums = no_sums(f.consts);
    for (const Array& a : f.begin) m.slots.push_back(op::zeros(stack_of(a.type(), task_.slots)));
    for (std::size_t i = p_.slices(); i < n; ++i)
      if (reached_[i]) m.ct_xs.push_back(op::zeros(x[i].type()));
    const Array schedule = op::checkpoint_schedule(p_.attr.length, task_.slots);
    const Moving done = over_rows(f, m, schedule);
    return results(done.ct, done.sums, done.ct_xs, part(x, 0, n));
  }

 private:
  struct Fixed {
    Arrays consts, begin, xs, ct_ys;
  };
  struct Moving {
    Arrays slots, ct, sums, ct_xs;
  };
  /// Takes lists of the lengths of others out of one list, in order.
  struct Taker {
    std::span<const Array> x;
    std::size_t next = 0;
    Arrays operator()(const Arrays& like) {
      next += like.size();
      return list(part(x, next - like.size(), next));
    }
  };

  Moving over_rows(const Fixed& f, const Moving& m, const Array& schedule) const {
    const Arrays operands = concatenated({f.consts, f.begin, f.xs, f.ct_ys, m.slots, m.ct, m.sums, m.ct_xs, {&schedule, 1}});
    std::vector<Type> types = types_of(operands);
    types.back() = slice_of(types.back());
    const ProgramPtr body = build_program("row", types, p_.attr.body.sources, [&](const Arrays& x) {
      Taker take{x};
      Fixed g;
      g.consts = take(f.consts), g.begin = take(f.begin), g.xs = take(f.xs), g.ct_ys = take(f.ct_ys);
      Moving w;
      w.slots = take(m.slots), w.ct = take(m.ct), w.sums = take(m.sums), w.ct_xs = take(m.ct_xs);
      w = row(g, w, x.back());
      return concatenated({w.slots, w.ct, w.sums, w.ct_xs});
    });
    ScanAttr attr = scan_attributes(p_.attr, body, f.consts.size() + f.begin.size() + f.xs.size() + f.ct_ys.size(),
                                    m.slots.size() + m.ct.size() + m.sums.size() + m.ct_xs.size());
    attr.length = schedule.shape()[0];
    attr.reverse = false;
    const Arrays r = op::scan(attr, operands);
    Taker take{r};
    Moving out;
    out.slots = take(m.slots), out.ct = take(m.ct), out.sums = take(m.sums), out.ct_xs = take(m.ct_xs);
    return out;
  }

  Moving row(const Fixed& f, const Moving& m, const Array& columns) const {
    const auto column = [&](std::int64_t k) { return op::reshape(op::slice(columns, {k}, {k + 1}, {1}), {}); };
    const Array one = op::number(1, DType::i32), slot = column(0), from = column(1), step = op::add(from, column(2)), keep = column(3);
    const Array backwards = op::convert(op::lt(keep, op::number(0, DType::i32)), DType::i32), kept = op::sub(keep, one);
    Arrays state = slices_at(m.slots, op::sub(slot, one));
    for (std::size_t k = 0; k < state.size(); ++k) state[k] = op::select(op::eq(slot, op::number(0, DType::i32)), f.begin[k], state[k]);
    state = advanced(f.consts, state, f.xs, from, step, p_.attr.length);
    Moving out;
    out.slots = keeping(m.slots, state, kept, backwards);
    const Arrays moved = stepping(f, m, state, step, backwards);
    Taker take{moved};
    out.ct = take(m.ct), out.sums = take(m.sums), out.ct_xs = take(m.ct_xs);
    return out;
  }

  /// The slots, with the state in one of them unless the row goes backwards.
  Arrays keeping(const Arrays& slots, const Arrays& state, const Array& slot, const Array& backwards) const {
    const Arrays operands = concatenated({slots, state, {&slot, 1}});
    const auto branch = [&](bool keeps) -> SubProgram {
      return {build_program("keep", types_of(operands), p_.attr.body.sources, [&](const Arrays& x) {
        Arrays out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(slots.size()));
        for (std::size_t k = 0; keeps && k < out.size(); ++k) out[k] = updated(out[k], x[slots.size() + k], x.back());
        return out;
      }), p_.attr.body.sources};
    };
    return op::cond({{branch(true), branch(false)}}, concatenated({{&backwards, 1}, operands}));
  }
  static Array updated(const Array& stack, const Array& value, const Array& at) {
    Arrays starts{at};
    while (starts.size() < static_cast<std::size_t>(stack.rank())) starts.push_back(op::number(0, DType::i32));
    return op::dynamic_update_slice(stack, op::reshape(value, stack_of(value.type(), 1).shape), starts);
  }

  /// Cotangents, sums and cotangents of slices, moved over the step where the row goes backwards.
  Arrays stepping(const Fixed& f, const Moving& m, const Arrays& state, const Array& step, const Array& backwards) const {
    const Arrays operands = concatenated({m.ct, m.sums, m.ct_xs, f.consts, state, f.xs, f.ct_ys, {&step, 1}});
    const auto branch = [&](bool moves) -> SubProgram {
      return {build_program("step", types_of(operands), p_.attr.body.sources, [&](const Arrays& x) {
        Taker take{x};
        const Arrays ct = take(m.ct), sums = take(m.sums), ct_xs = take(m.ct_xs), consts = take(f.consts), at = take(state), xs = take(f.xs), ct_ys = take(f.ct_ys);
        if (!moves) return concatenated({ct, sums, ct_xs});
        const Array number = place(x.back(), p_.attr.length);
        const Arrays g = derivative(concatenated({consts, at, slices_at(xs, number)}), ct, slices_at(ct_ys, number), sums);
        Arrays out = in_order(g, ct);
        for (std::size_t i = 0, first = ct.size() + sums.size(); i < ct_xs.size(); ++i) out[first + i] = updated(ct_xs[i], out[first + i], number);
        return out;
      }), p_.attr.body.sources};
    };
    return op::cond({{branch(false), branch(true)}}, concatenated({{&backwards, 1}, operands}));
  }
};

}  // namespace

ProgramPtr recomputing_gradient(const RewindTask& task, const std::vector<Type>& types) {
  const Recomputing gradient(task);
  return build_program("recompute", types, task.loop.sources, [&](const Arrays& x) { return gradient.run(x); });
}

}  // namespace anadrome
