// Derivatives of steps, with their accumulators.
#include "transforms/loop_gradient.h"

#include <algorithm>

#include "transforms/backward.h"
#include "transforms/linearize.h"

namespace anadrome {

Arrays concatenated(std::initializer_list<std::span<const Array>> lists) {
  Arrays out;
  for (const auto& l : lists) append(out, l);
  return out;
}

Arrays slices_at(std::span<const Array> stacks, const Array& at) {
  Arrays out;
  for (const Array& s : stacks) {
    Arrays starts{at};
    Ints sizes(s.shape());
    sizes[0] = 1;
    while (starts.size() < static_cast<std::size_t>(s.rank())) starts.push_back(op::number(0, DType::i32));
    out.push_back(op::reshape(op::dynamic_slice(s, starts, sizes), slice_of(s.type()).shape));
  }
  return out;
}

namespace {

/// Zeros that a loop begins with and then writes over: no other zeros are merged with them, or they would have to stay.
Array own_zeros(const Type& type) {
  RegionMap regions;
  const AtRegion apart(regions, 1);
  return op::zeros(type);
}

}  // namespace

LoopGradient::LoopGradient(const RewindTask& task)
    : task_(task), p_(loop_of(task.loop)), lin_(linearize_program(p_.body(), task.active, active_carries(p_, task.active))) {
  Mask linear(lin_->residuals.size(), 0), wanted = linear;
  for (std::size_t i = 0; i < p_.operands; ++i) {
    if (!task.active[i]) continue;
    linear.push_back(1);
    wanted.push_back(p_.is_carry(i) || task.wanted[i]);
    active_carries_ += p_.is_carry(i);
  }
  Mask given = task.given;
  std::fill(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(active_carries_), 1);
  const ProgramPtr tangent = closed(lin_->tangent);
  const auto plain = backward_program(tangent, linear, wanted, given);
  reached_.assign(p_.operands, 0);
  Mask started(linear.size(), 0);
  for (std::size_t i = 0, t = lin_->residuals.size(); i < p_.operands; ++i) {
    if (!task.active[i]) continue;
    reached_[i] = plain->reached[t];
    started[t++] = p_.is_const(i) && reached_[i];
  }
  back_ = backward_program(tangent, linear, wanted, given, started);
}

std::pair<Arrays, Arrays> LoopGradient::cotangents(std::span<const Array> ct, std::span<const Array> x) const {
  Arrays carries;
  std::size_t next = 0;
  for (std::size_t k = 0, a = 0; k < p_.carries; ++k) {
    if (!task_.active[p_.consts + k]) continue;
    carries.push_back(task_.given[a++] ? ct[next++] : own_zeros(x[p_.consts + k].type()));
  }
  return {carries, list(ct.subspan(next))};
}

Arrays LoopGradient::no_sums(std::span<const Array> consts) const {
  Arrays out;
  for (std::size_t i = 0; i < p_.consts; ++i)
    if (reached_[i]) out.push_back(own_zeros(consts[i].type()));
  return out;
}

Arrays LoopGradient::derivative(std::span<const Array> inputs, std::span<const Array> ct, std::span<const Array> ct_ys, std::span<const Array> sums) const {
  const SourceTable* sources = p_.attr.body.sources.get();
  const Arrays r = inline_program(*lin_->primal, {}, inputs, sources);
  Arrays known = lin_->residual_values(inputs, r);
  append(known, ct);
  append(known, ct_ys);
  append(known, sums);
  const Arrays g = spread(back_->reached, inline_program(*back_->program, {}, known, sources));
  Arrays out(p_.operands);
  for (std::size_t i = 0, t = lin_->residuals.size(); i < p_.operands; ++i)
    if (task_.active[i]) out[i] = g[t++];
  return out;
}

Arrays LoopGradient::in_order(const Arrays& g, std::span<const Array> ct) const {
  Arrays out;
  std::size_t next = 0;
  for (std::size_t i = p_.consts; i < p_.slices(); ++i)
    if (task_.active[i]) out.push_back(g[i].defined() ? g[i] : op::zeros(ct[next].type())), ++next;
  for (std::size_t i = 0; i < p_.consts; ++i)
    if (reached_[i]) out.push_back(g[i]);
  for (std::size_t i = p_.slices(); i < p_.operands; ++i)
    if (reached_[i]) out.push_back(g[i]);
  return out;
}

Array LoopGradient::place(const Array& number, std::int64_t length) const {
  return p_.attr.reverse ? op::sub(op::number(static_cast<double>(length - 1), DType::i32), number) : number;
}

Arrays LoopGradient::advanced(std::span<const Array> consts, std::span<const Array> state, std::span<const Array> xs, const Array& begin,
                              const Array& end, std::int64_t length) const {
  const Arrays carries = concatenated({{&begin, 1}, state});
  const std::size_t slices = consts.size(), i = slices + xs.size();
  const auto& sources = p_.attr.body.sources;
  const ProgramPtr condition = build_program("more", types_of(concatenated({{&end, 1}, carries})), sources, [](const Arrays& x) { return Arrays{op::lt(x[1], x[0])}; });
  const ProgramPtr body = build_program("step", types_of(concatenated({consts, xs, carries})), sources, [&](const Arrays& x) {
    const std::span<const Array> all(x);
    const Arrays y = inline_program(*p_.body(), {}, concatenated({part(all, 0, slices), all.subspan(i + 1), slices_at(part(all, slices, i), place(x[i], length))}), sources.get());
    Arrays out{op::add(x[i], op::number(1, DType::i32))};
    append(out, part(y, 0, p_.carries));
    return out;
  });
  const Arrays r = op::while_loop({{condition, sources}, {body, sources}, 1, static_cast<std::int64_t>(i), -1}, concatenated({{&end, 1}, consts, xs, carries}));
  return {r.begin() + 1, r.end()};
}

Arrays LoopGradient::results(std::span<const Array> ct, std::span<const Array> sums, std::span<const Array> ct_xs, std::span<const Array> x) const {
  Arrays out;
  std::size_t carry = 0, sum = 0, slice = 0;
  for (std::size_t i = 0; i < p_.operands; ++i) {
    Array g;
    if (p_.is_carry(i)) {
      if (task_.active[i]) g = ct[carry++];
    } else if (reached_[i]) {
      g = p_.is_const(i) ? sums[sum++] : ct_xs[slice++];
    }
    if (task_.wanted[i]) out.push_back(g.defined() ? g : op::zeros(x[i].type()));
  }
  return out;
}

}  // namespace anadrome
