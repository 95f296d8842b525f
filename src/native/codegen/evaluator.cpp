// Evaluator: index maps from the nest to each value, and the code of each equation.
#include "native/codegen/evaluator.h"

#include <algorithm>

#include "anadrome/error.h"
#include "core/intern.h"
#include "primitives/indexed.h"
#include "primitives/prims.h"
#include "primitives/strided.h"

namespace anadrome::codegen {
namespace {

using llvm::Value;

Affine at(std::int64_t c) { return plus({}, c); }

void append(std::vector<std::int64_t>& key, const Affine& a) {
  key.push_back(a.constant);
  for (std::size_t k = 0; k < a.coefficient.size(); ++k)
    if (a.coefficient[k]) key.push_back(static_cast<std::int64_t>(k) + 1), key.push_back(a.coefficient[k]);
  key.push_back(-1);
}

bool is_sine_or_cosine(const Equation& e) { return (e.prim == &prim::sin || e.prim == &prim::cos) && e.operands[0].is_var(); }

}  // namespace

std::size_t Evaluator::KeyHash::operator()(const Key& k) const {
  std::uint64_t h = 0;
  for (std::int64_t v : k) h = mix(h, static_cast<std::uint64_t>(v));
  return h;
}

Place place_of(const std::vector<NestAxis>& axes, std::span<const std::int64_t> unrolled) {
  Place out;
  std::size_t next = 0;
  for (const NestAxis& a : axes) {
    Affine x;
    if (a.loop == NestAxis::unrolled) x.constant = unrolled[next++];
    else if (!a.merged) x.coefficient[static_cast<std::size_t>(a.loop)] = 1;
    out.push_back(x);
  }
  return out;
}

Evaluator::Evaluator(llvm::Module& module, Symbols& symbols, const Program& body, const LoopNest& nest, Frame& frame,
                     llvm::IRBuilder<>& build)
    : module_(module), symbols_(symbols), body_(body), nest_(nest), frame_(frame), build_(build),
      defined_(body.types.size()), argument_(body.types.size(), -1), both_(body.types.size()),
      sine_cosines_(nest.loops.size() + 1), memo_(nest.loops.size() + 1),
      base_(body.inputs.size() + body.outputs.size()) {
  for (const Equation& e : body.equations)
    for (VarId v : e.results) defined_[v] = &e;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) argument_[body.inputs[i]] = static_cast<std::int64_t>(i);
  find_sines_and_cosines();
}

void Evaluator::find_sines_and_cosines() {
  std::vector<const Prim*> first(body_.types.size());
  for (const Equation& e : body_.equations) {
    if (!is_sine_or_cosine(e)) continue;
    const VarId x = e.operands[0].var;
    if (!first[x]) first[x] = e.prim;
    else if (first[x] != e.prim) both_[x] = has_sine_cosine(body_.type(x).dtype);
  }
}
bool Evaluator::gives_sine_and_cosine(const Equation& e) const { return is_sine_or_cosine(e) && both_[e.operands[0].var]; }
bool Evaluator::comes_with_sine(const Equation& e) const { return e.prim == &prim::cos && gives_sine_and_cosine(e); }

void Evaluator::leave(int depth) {
  for (std::size_t l = static_cast<std::size_t>(depth) + 1; l < memo_.size(); ++l) {
    memo_[l].clear();
    sine_cosines_[l].clear();
  }
  tiles_.clear();
  std::erase_if(splats_, [&](const auto& s) { return s.first.second > depth; });
  std::erase_if(addresses_, [&](const auto& a) { return a.second.level > depth; });
  std::erase_if(integers_, [&](const auto& a) { return a.second.level > depth; });
}

void Evaluator::go(int level) {
  llvm::BasicBlock* block = frame_.level_block[static_cast<std::size_t>(level)];
  if (llvm::Instruction* end = block->getTerminator()) build_.SetInsertPoint(end);
  else build_.SetInsertPoint(block);
}

Cell Evaluator::splat(const Cell& cell) {
  if (cell.vector || nest_.lanes == 1) return {cell.value, true, cell.level};
  Value*& v = splats_[{cell.value, cell.level}];
  if (!v) {
    go(cell.level);
    v = build_.CreateVectorSplat(static_cast<unsigned>(nest_.lanes), cell.value);
  }
  return {v, true, cell.level};
}
Value* Evaluator::in_lanes(const Cell& cell) { return splat(cell).value; }

// ---- values

Cell Evaluator::number(const Literal& literal) {
  llvm::Type* type = compute_type(build_.getContext(), literal.dtype);
  if (is_float(literal.dtype)) return {llvm::ConstantFP::get(type, literal.as_double()), false, 0};
  return {llvm::ConstantInt::getSigned(type, literal.dtype == DType::b1 ? -(literal.as_double() != 0) : literal.as_integer()),
          false, 0};
}

Cell Evaluator::at(const Atom& a, const Place& place, int guard) {
  if (!a.is_var()) return number(a.literal);
  Key key{a.var, guard};
  for (const Affine& p : place) append(key, p);
  for (auto& level : memo_)
    if (const auto it = level.find(key); it != level.end()) return it->second;
  const Cell cell = compute(a.var, place, guard);
  memo_[static_cast<std::size_t>(cell.level)].emplace(std::move(key), cell);
  return cell;
}

Cell Evaluator::compute(VarId v, const Place& place, int guard) {
  if (argument_[v] >= 0) return load(static_cast<std::size_t>(argument_[v]), place, guard);
  const Equation& e = *defined_[v];
  if (e.prim == &prim::dot_general) return product(e, place, guard);
  if (is_reduction(*e.prim)) return reduced(e, place, guard);
  if (e.prim == &prim::iota || e.prim == &prim::identity) return counted(e, place);
  if (e.prim == &prim::gather) return gathered(e, place, guard);
  if (e.prim == &prim::pad) return padded(e, place, guard);
  if (e.prim == &prim::concatenate) return joined(e, place, guard);
  if (e.prim == &prim::add_slice || e.prim == &prim::dynamic_add_slice || e.prim == &prim::dynamic_update_slice)
    return updated(e, place, guard);
  if (e.prim->work == Work::elementwise || e.prim == &prim::stop_gradient) return elementwise(e, place, guard);
  return movement(e, place, guard);
}

Cell Evaluator::elementwise(const Equation& e, const Place& place, int guard) {
  std::vector<Cell> x;
  bool vector = false;
  int level = 0;
  for (const Atom& a : e.operands) {
    x.push_back(at(a, body_.type(a).rank() == 0 ? Place() : place, guard));
    vector |= x.back().vector;
    level = std::max(level, x.back().level);
  }
  std::vector<Value*> values;
  for (const Cell& c : x) values.push_back(vector ? in_lanes(c) : c.value);
  go(level);
  SineCosines* both = gives_sine_and_cosine(e) ? &sine_cosines_[static_cast<std::size_t>(level)] : nullptr;
  const Operation op{build_, module_, symbols_, body_, e, vector ? nest_.lanes : 1, both};
  return {emit_elementwise(op, values), vector, level};
}

Place Evaluator::reshaped(const Equation& e, const Place& place) const {
  const Shape &from = body_.type(e.operands[0]).shape, &to = body_.type(e.results[0]).shape;
  Place out(from.size());
  for (const AxisGroup& g : reshape_groups(from, to)) {
    Affine flat;
    int longer = -1, count = 0;
    for (int k = g.to_begin; k < g.to_end; ++k) flat = sum(times(flat, to[k]), place[static_cast<std::size_t>(k)]);
    for (int k = g.from_begin; k < g.from_end; ++k)
      if (from[k] != 1) longer = k, ++count;
    if (count == 1) {
      out[static_cast<std::size_t>(longer)] = flat;
      continue;
    }
    if (!flat.is_constant()) throw InternalError("code generator: a reshape of axes that loops run through");
    for (int k = g.from_end; k-- > g.from_begin;) {
      out[static_cast<std::size_t>(k)] = codegen::at(flat.constant % from[k]);
      flat.constant /= from[k];
    }
  }
  return out;
}

Cell Evaluator::movement(const Equation& e, const Place& place, int guard) {
  const Atom& x = e.operands[0];
  const Shape shape = body_.type(x).shape;
  Place inner(shape.size());
  if (e.prim == &prim::broadcast_in_dim) {
    const Ints& dims = e.as<BroadcastAttr>().dims;
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (shape[k] != 1) inner[k] = place[static_cast<std::size_t>(dims[k])];
  } else if (e.prim == &prim::transpose) {
    const Ints& perm = e.as<PermutationAttr>().perm;
    for (std::size_t k = 0; k < perm.size(); ++k) inner[static_cast<std::size_t>(perm[k])] = place[k];
  } else if (e.prim == &prim::reshape) {
    inner = reshaped(e, place);
  } else if (e.prim == &prim::slice) {
    const auto& s = e.as<SliceAttr>();
    for (std::size_t k = 0; k < inner.size(); ++k) inner[k] = plus(times(place[k], s.strides[k]), s.start[k]);
  } else if (e.prim == &prim::dynamic_slice) {
    const Ints starts = *literal_starts(body_, e);
    for (std::size_t k = 0; k < inner.size(); ++k) inner[k] = plus(place[k], starts[k]);
  } else if (e.prim == &prim::rev) {
    inner = place;
    for (std::int64_t k : e.as<AxesAttr>().axes) {
      const auto at = static_cast<std::size_t>(k);
      inner[at] = plus(times(place[at], -1), shape[static_cast<int>(k)] - 1);
    }
  } else {
    throw InternalError("code generator: no code for " + std::string(e.prim->name));
  }
  return at(x, inner, guard);
}

// ---- conditions

Evaluator::Range Evaluator::range(const Affine& a) const {
  Range r{a.constant, a.constant};
  for (std::size_t d = 0; d < nest_.loops.size(); ++d) {
    const std::int64_t far = a.coefficient[d] * (nest_.loops[d].extent - 1);
    (far < 0 ? r.low : r.high) += far;
  }
  return r;
}

Cell Evaluator::integer(const Affine& a) {
  std::vector<std::int64_t> key;
  append(key, a);
  if (const auto it = integers_.find(key); it != integers_.end()) return it->second;
  Cell out{build_.getInt64(static_cast<std::uint64_t>(a.constant)), false, 0};
  for (std::size_t d = 0; d < nest_.loops.size(); ++d) {
    if (!a.coefficient[d]) continue;
    out.level = static_cast<int>(d) + 1;
    go(out.level);
    Value* part = build_.CreateMul(frame_.index[d], build_.getInt64(static_cast<std::uint64_t>(a.coefficient[d])));
    out.value = build_.CreateAdd(out.value, part);
  }
  if (nest_.lane >= 0 && nest_.lanes > 1 && a.coefficient[static_cast<std::size_t>(nest_.lane)]) {
    std::vector<llvm::Constant*> steps;
    for (int k = 0; k < nest_.lanes; ++k)
      steps.push_back(build_.getInt64(static_cast<std::uint64_t>(k * a.coefficient[static_cast<std::size_t>(nest_.lane)])));
    out.value = build_.CreateAdd(build_.CreateVectorSplat(static_cast<unsigned>(nest_.lanes), out.value), llvm::ConstantVector::get(steps));
    out.vector = true;
  }
  integers_[key] = out;
  return out;
}

bool Evaluator::known(const Cell& c, bool value) const {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(c.value);
  return constant && constant->isOne() == value;
}

Cell Evaluator::at_least(const Affine& a, std::int64_t limit) {
  const Range r = range(a);
  if (r.low >= limit) return {build_.getTrue(), false, 0};
  if (r.high < limit) return {build_.getFalse(), false, 0};
  const Cell x = integer(a);
  go(x.level);
  return {build_.CreateICmpSGE(x.value, llvm::ConstantInt::getSigned(x.value->getType(), limit)), x.vector, x.level};
}

Cell Evaluator::both(const Cell& a, const Cell& b, bool conjunction) {
  if (known(a, conjunction)) return b;
  if (known(b, conjunction)) return a;
  if (known(a, !conjunction)) return a;
  if (known(b, !conjunction)) return b;
  return combined(a, b, [&](Value* x, Value* y) { return conjunction ? build_.CreateAnd(x, y) : build_.CreateOr(x, y); });
}

/// low <= a < high.
Cell Evaluator::inside(const Affine& a, std::int64_t low, std::int64_t high) {
  const Cell below = at_least(a, high);
  go(below.level);
  const Cell under = known(below, true)    ? Cell{build_.getFalse(), false, 0}
                     : known(below, false) ? Cell{build_.getTrue(), false, 0}
                                           : Cell{build_.CreateNot(below.value), below.vector, below.level};
  return both(at_least(a, low), under, true);
}

int Evaluator::guarded(int guard, const Cell& condition) {
  if (known(condition, true)) return guard;
  int& id = guard_of_.emplace(std::pair(guard, condition.value), no_guard).first->second;
  if (id == no_guard) {
    const Cell all = guard == no_guard ? condition : both(guards_[static_cast<std::size_t>(guard)], condition, true);
    id = static_cast<int>(guards_.size());
    guards_.push_back(all);
  }
  return id;
}

Cell Evaluator::choose(const Cell& condition, const Cell& yes, const Cell& no) {
  const bool vector = condition.vector || yes.vector || no.vector;
  const int level = std::max({condition.level, yes.level, no.level});
  Value* a = vector ? in_lanes(yes) : yes.value;
  Value* b = vector ? in_lanes(no) : no.value;
  Value* c = condition.vector ? in_lanes(condition) : condition.value;
  go(level);
  return {build_.CreateSelect(c, a, b), vector, level};
}

Cell Evaluator::padded(const Equation& e, const Place& place, int guard) {
  const auto& pad = e.as<PadAttr>();
  const Shape shape = body_.type(e.operands[0]).shape;
  Place inner(shape.size());
  Cell condition{build_.getTrue(), false, 0};
  for (std::size_t k = 0; k < inner.size(); ++k) {
    inner[k] = plus(place[k], -pad.low[k]);
    if (const std::int64_t step = pad.interior[k] + 1; step > 1) {
      if (!inner[k].is_constant()) throw InternalError("code generator: gaps along an axis that a loop runs through");
      const std::int64_t c = inner[k].constant;
      if (c < 0 || c % step) condition = {build_.getFalse(), false, 0};
      inner[k].constant = c / step;
    }
    condition = both(condition, inside(inner[k], 0, shape[k]), true);
  }
  if (known(condition, false)) return at(e.operands[1], {}, guard);
  const Cell value = at(e.operands[0], inner, guarded(guard, condition));
  return known(condition, true) ? value : choose(condition, value, at(e.operands[1], {}, guard));
}

Cell Evaluator::joined(const Equation& e, const Place& place, int guard) {
  const auto axis = static_cast<std::size_t>(e.as<AxisAttr>().axis);
  std::vector<std::int64_t> start{0};
  for (const Atom& a : e.operands) start.push_back(start.back() + body_.type(a).shape[axis]);
  Cell out;
  for (std::size_t k = e.operands.size(); k-- > 0;) {
    const Cell here = inside(place[axis], start[k], start[k + 1]);
    if (known(here, false)) continue;
    Place inner = place;
    inner[axis] = plus(inner[axis], -start[k]);
    const Cell value = at(e.operands[k], inner, guarded(guard, here));
    out = out.value && !known(here, true) ? choose(here, value, out) : value;
  }
  // No part: this copy of an unrolled body lies behind the end and never runs.
  return out.value ? out : number(Literal::of(0, body_.type(e.results[0]).dtype));
}

Cell Evaluator::updated(const Equation& e, const Place& place, int guard) {
  const Ints starts = e.prim == &prim::add_slice ? e.as<SliceAttr>().start : *literal_starts(body_, e);
  const Shape window = body_.type(e.operands[1]).shape;
  Place inner(window.size());
  Cell here{build_.getTrue(), false, 0};
  for (std::size_t k = 0; k < inner.size(); ++k) {
    inner[k] = plus(place[k], -starts[k]);
    here = both(here, inside(inner[k], 0, window[k]), true);
  }
  const bool replaces = e.prim == &prim::dynamic_update_slice;
  const bool outside = known(here, false), all = known(here, true);
  if (outside) return at(e.operands[0], place, guard);
  Cell update = at(e.operands[1], inner, guarded(guard, here));
  if (replaces && all) return update;
  const Cell base = at(e.operands[0], place, guard);
  if (!replaces) {
    const bool vector = base.vector || update.vector;
    Value *a = vector ? in_lanes(base) : base.value, *b = vector ? in_lanes(update) : update.value;
    const DType dtype = body_.type(e.results[0]).dtype;
    const int level = std::max(base.level, update.level);
    go(level);
    update = {rounded(build_, emit_combine(build_, prim::reduce_sum, dtype, a, b), dtype), vector, level};
  }
  return all ? update : choose(here, update, base);
}

/// iota and identity: functions of the place alone.
Cell Evaluator::counted(const Equation& e, const Place& place) {
  const DType dtype = body_.type(e.results[0]).dtype;
  if (e.prim == &prim::identity) {
    const Cell upper = at_least(sum(place[0], times(place[1], -1)), 0);
    const Cell lower = at_least(sum(place[1], times(place[0], -1)), 0);
    const auto value = [&](double v) { return number(Literal::of(v, dtype)); };
    return choose(both(upper, lower, true), value(1), value(0));
  }
  const Cell n = integer(place[static_cast<std::size_t>(e.as<IotaAttr>().axis)]);
  go(n.level);
  return {emit_convert(build_, n.value, DType::i64, dtype), n.vector, n.level};
}

/// A number of an array at a computed place. Places are moved into the array before anything is read.
Cell Evaluator::gathered(const Equation& e, const Place& place, int guard) {
  const auto& g = e.as<GatherAttr>();
  const GatherAxes axes = gather_axes(body_, e);
  const Shape& array = body_.type(e.operands[0]).shape;
  Place known(array.size()), index;
  for (std::size_t k = 0; k < known.size(); ++k)
    if (axes.of_array[k] >= 0) known[k] = place[static_cast<std::size_t>(axes.of_array[k])];
  for (int k : axes.of_indices) index.push_back(place[static_cast<std::size_t>(k)]);
  index.emplace_back();
  const Strides steps = row_major(array);
  Cell computed{build_.getInt64(0), false, 0}, fits{build_.getTrue(), false, 0};
  for (std::size_t j = 0; j < g.start_index_map.size(); ++j) {
    index.back().constant = static_cast<std::int64_t>(j);
    const auto axis = static_cast<std::size_t>(g.start_index_map[static_cast<int>(j)]);
    Cell i = at(e.operands[1], index, guard);
    go(i.level);
    i.value = emit_convert(build_, i.value, body_.type(e.operands[1]).dtype, DType::i64);
    const auto number = [&](std::int64_t v) { return Cell{build_.getInt64(static_cast<std::uint64_t>(v)), false, 0}; };
    const Cell first = number(0), last = number(array[axis] - 1);
    const auto smaller = [&](Value* a, Value* b) { return build_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); };
    const auto larger = [&](Value* a, Value* b) { return build_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); };
    const Cell moved = combined(combined(i, last, smaller), first, larger);
    fits = both(fits, combined(i, moved, [&](Value* a, Value* b) { return build_.CreateICmpEQ(a, b); }), true);
    const Cell step = combined(moved, number(steps[axis]), [&](Value* a, Value* b) { return build_.CreateMul(a, b); });
    computed = combined(computed, step, [&](Value* a, Value* b) { return build_.CreateAdd(a, b); });
  }
  const Cell value = load_at(static_cast<std::size_t>(argument_[e.operands[0].var]), offset(array, known), computed, guard);
  if (g.mode == IndexMode::clip || g.mode == IndexMode::clip_or_drop) return value;
  return choose(fits, value, number(fill_value(body_.type(e.results[0]).dtype, g.mode)));
}

// ---- sums over unrolled axes

Cell Evaluator::reduced(const Equation& e, const Place& place, int guard) {
  const Ints& axes = reduced_axes(e);
  const Type& type = body_.type(e.operands[0]);
  const DType dtype = type.dtype;
  Place inner(type.shape.size());
  std::int64_t count = 1;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < inner.size(); ++k)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k)) == axes.end()) inner[k] = place[kept++];
    else count *= type.shape[k];
  llvm::Type* scalar = compute_type(build_.getContext(), dtype);
  Cell total{reduction_identity(*e.prim, dtype, scalar), false, 0};
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t k = axes.size(); k-- > 0;) {
      const auto axis = static_cast<std::size_t>(axes[k]);
      inner[axis] = codegen::at(rest % type.shape[axis]);
      rest /= type.shape[axis];
    }
    const Cell x = at(e.operands[0], inner, guard);
    const bool vector = total.vector || x.vector;
    Value *a = vector ? in_lanes(total) : total.value, *b = vector ? in_lanes(x) : x.value;
    const int level = std::max(total.level, x.level);
    go(level);
    total = {emit_combine(build_, *e.prim, dtype, a, b), vector, level};
  }
  go(total.level);
  total.value = rounded(build_, total.value, dtype);
  return total;
}

Cell Evaluator::product(const Equation& e, const Place& place, int guard) {
  const auto& d = e.as<DotAttr>();
  const FreeAxes free = free_axes(body_, e);
  const Type lhs = body_.type(e.operands[0]), rhs = body_.type(e.operands[1]);
  const DType dtype = body_.type(e.results[0]).dtype;
  Place a(lhs.shape.size()), b(rhs.shape.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < d.batch_lhs.size(); ++k, ++next)
    a[static_cast<std::size_t>(d.batch_lhs[k])] = b[static_cast<std::size_t>(d.batch_rhs[k])] = place[next];
  for (std::int64_t k : free.lhs) a[static_cast<std::size_t>(k)] = place[next++];
  for (std::int64_t k : free.rhs) b[static_cast<std::size_t>(k)] = place[next++];
  std::int64_t count = 1;
  for (std::int64_t k : d.contract_lhs) count *= lhs.shape[static_cast<std::size_t>(k)];
  Cell total;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t k = d.contract_lhs.size(); k-- > 0;) {
      const std::int64_t extent = lhs.shape[static_cast<std::size_t>(d.contract_lhs[k])];
      a[static_cast<std::size_t>(d.contract_lhs[k])] = b[static_cast<std::size_t>(d.contract_rhs[k])] = codegen::at(rest % extent);
      rest /= extent;
    }
    const Cell x = at(e.operands[0], a, guard), y = at(e.operands[1], b, guard);
    const bool vector = x.vector || y.vector || total.vector;
    Value *u = vector ? in_lanes(x) : x.value, *v = vector ? in_lanes(y) : y.value;
    Value* t = total.value && vector ? in_lanes(total) : total.value;
    const int level = std::max({x.level, y.level, total.level});
    go(level);
    total = {t ? build_.CreateIntrinsic(llvm::Intrinsic::fma, {u->getType()}, {u, v, t}) : build_.CreateFMul(u, v), vector, level};
  }
  go(total.level);
  total.value = rounded(build_, total.value, dtype);
  return total;
}

}  // namespace anadrome::codegen
