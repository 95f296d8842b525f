// AxisClasses: one union-find over the axes of all values.
#include "optimize/axis_classes.h"

#include <algorithm>

#include "primitives/prims.h"

namespace anadrome {

bool is_reduction(const Prim& p) {
  return &p == &prim::reduce_sum || &p == &prim::reduce_prod || &p == &prim::reduce_max || &p == &prim::reduce_min ||
         &p == &prim::reduce_and || &p == &prim::reduce_or;
}
const Ints& reduced_axes(const Equation& e) { return e.as<AxesAttr>().axes; }

std::optional<Ints> literal_starts(const Program& program, const Equation& e) {
  const bool slice = e.prim == &prim::dynamic_slice;
  const std::size_t first = slice ? 1 : 2;
  const Shape& whole = program.type(e.operands[0]).shape;
  const Shape window = slice ? program.type(e.results[0]).shape : program.type(e.operands[1]).shape;
  Ints out;
  for (std::size_t k = 0; k + first < e.operands.size(); ++k) {
    const Atom& a = e.operands[first + k];
    if (a.is_var()) return std::nullopt;
    out.push_back(std::clamp<std::int64_t>(a.literal.as_integer(), 0, whole[k] - window[k]));
  }
  return out;
}

FreeAxes free_axes(const DotAttr& d, int lhs_rank, int rhs_rank) {
  const auto rest = [](int rank, const Ints& contract, const Ints& batch) {
    Ints out;
    for (int k = 0; k < rank; ++k)
      if (std::find(contract.begin(), contract.end(), k) == contract.end() &&
          std::find(batch.begin(), batch.end(), k) == batch.end())
        out.push_back(k);
    return out;
  };
  return {rest(lhs_rank, d.contract_lhs, d.batch_lhs), rest(rhs_rank, d.contract_rhs, d.batch_rhs)};
}
FreeAxes free_axes(const Program& program, const Equation& e) {
  return free_axes(e.as<DotAttr>(), program.type(e.operands[0]).rank(), program.type(e.operands[1]).rank());
}

GatherAxes gather_axes(const Program& program, const Equation& e) {
  const auto& g = e.as<GatherAttr>();
  const auto has = [](const Ints& list, std::int64_t k) { return std::find(list.begin(), list.end(), k) != list.end(); };
  GatherAxes out;
  for (int k = 0; k < program.type(e.results[0]).rank(); ++k)
    if (!has(g.offset_dims, k)) out.of_indices.push_back(k);
  int window = 0;
  for (int k = 0; k < program.type(e.operands[0]).rank(); ++k) {
    const bool lacks = has(g.collapsed_dims, k) || has(g.operand_batching_dims, k);
    out.of_array.push_back(lacks ? -1 : static_cast<int>(g.offset_dims[window++]));
    if (has(g.start_index_map, k)) out.of_array.back() = -1;
  }
  for (int k = 0; k < g.operand_batching_dims.rank(); ++k)
    out.of_array[static_cast<std::size_t>(g.operand_batching_dims[k])] =
        out.of_indices[static_cast<std::size_t>(g.indices_batching_dims[k])];
  return out;
}

int only_long_axis(const Shape& shape, int begin, int end) {
  int found = -1;
  for (int k = begin; k < end; ++k)
    if (shape[k] != 1) found = found < 0 ? k : -2;
  return found;
}

std::vector<AxisGroup> reshape_groups(const Shape& from, const Shape& to) {
  std::vector<AxisGroup> out;
  int i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    AxisGroup g{i, i, j, j};
    std::int64_t a = 1, b = 1;
    do {
      if (g.to_end == to.rank() || (g.from_end < from.rank() && a <= b)) a *= from[g.from_end++];
      else b *= to[g.to_end++];
    } while (a != b && (g.from_end < from.rank() || g.to_end < to.rank()));
    out.push_back(g);
    i = g.from_end, j = g.to_end;
  }
  return out;
}

AxisClasses::AxisClasses(const Program& program) : program_(program) {
  int slots = 0;
  for (const Type& t : program.types) {
    first_.push_back(slots);
    slots += t.rank();
  }
  for (int k = 0; k < slots; ++k) parent_.push_back(k);
  mixed_.resize(static_cast<std::size_t>(slots));
  sliced_.resize(static_cast<std::size_t>(slots));
  for (const Equation& e : program.equations) relate(e);
}

int AxisClasses::root(int slot) const {
  while (parent_[static_cast<std::size_t>(slot)] != slot) {
    auto& up = parent_[static_cast<std::size_t>(slot)];
    up = parent_[static_cast<std::size_t>(up)];
    slot = up;
  }
  return slot;
}

int AxisClasses::of(VarId v, int axis) const {
  return program_.type(v).shape[axis] == 1 ? none : root(slot(v, axis));
}
bool AxisClasses::unrolled(VarId v, int axis) const {
  const std::int64_t extent = program_.type(v).shape[axis];
  const auto r = static_cast<std::size_t>(root(slot(v, axis)));
  return extent == 1 || (extent <= most_unrolled && (mixed_[r] || sliced_[r]));
}
bool AxisClasses::only_sliced(VarId v, int axis) const { return !mixed_[static_cast<std::size_t>(root(slot(v, axis)))]; }

void AxisClasses::join(VarId a, int axis_a, VarId b, int axis_b) {
  const int x = root(slot(a, axis_a)), y = root(slot(b, axis_b));
  if (x == y || program_.type(a).shape[axis_a] != program_.type(b).shape[axis_b]) return;
  parent_[static_cast<std::size_t>(y)] = x;
  for (std::vector<bool>* marks : {&mixed_, &sliced_})
    if ((*marks)[static_cast<std::size_t>(y)]) (*marks)[static_cast<std::size_t>(x)] = true;
}

void AxisClasses::relate_elementwise(const Equation& e) {
  const VarId y = e.results[0];
  for (const Atom& a : e.operands)
    if (a.is_var() && program_.type(a.var).rank() == program_.type(y).rank())
      for (int k = 0; k < program_.type(y).rank(); ++k) join(y, k, a.var, k);
}

/// `part` is a window of `whole`: axes that it covers run together, the others are marked.
void AxisClasses::relate_window(VarId whole, VarId part, std::vector<bool>& marks) {
  for (int k = 0; k < program_.type(whole).rank(); ++k) {
    if (program_.type(whole).shape[k] == program_.type(part).shape[k]) {
      join(whole, k, part, k);
    } else {
      mark(marks, whole, k);
      mark(marks, part, k);
    }
  }
}

void AxisClasses::relate_reshape(const Equation& e) {
  const VarId x = e.operands[0].var, y = e.results[0];
  const Shape &from = program_.type(x).shape, &to = program_.type(y).shape;
  for (const AxisGroup& g : reshape_groups(from, to)) {
    const int a = only_long_axis(from, g.from_begin, g.from_end), b = only_long_axis(to, g.to_begin, g.to_end);
    if (a >= 0 && b >= 0) {
      join(x, a, y, b);
      continue;
    }
    for (int k = g.from_begin; k < g.from_end; ++k) mix(x, k);
    for (int k = g.to_begin; k < g.to_end; ++k) mix(y, k);
  }
}

void AxisClasses::relate_concatenate(const Equation& e) {
  const VarId y = e.results[0];
  const std::int64_t axis = e.as<AxisAttr>().axis;
  for (const Atom& a : e.operands) {
    if (!a.is_var()) continue;
    for (int k = 0; k < program_.type(y).rank(); ++k)
      if (k != axis) join(y, k, a.var, k);
    mix(a.var, static_cast<int>(axis));
  }
  mix(y, static_cast<int>(axis));
}

void AxisClasses::relate_reduction(const Equation& e) {
  if (!e.operands[0].is_var()) return;
  const VarId x = e.operands[0].var, y = e.results[0];
  const Ints& axes = reduced_axes(e);
  const Shape& shape = program_.type(x).shape;
  int kept = 0;
  std::int64_t reduced = 1;
  for (std::int64_t k : axes) reduced *= shape[k];
  for (int k = 0; k < shape.rank(); ++k) {
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) join(x, k, y, kept++);
    else if (reduced <= 4 || (reduced <= most_unrolled && shape.elements() >= 8 * reduced)) mix(x, k);
  }
}

void AxisClasses::relate_dot(const Equation& e) {
  if (!e.operands[0].is_var() || !e.operands[1].is_var()) return;
  const auto& d = e.as<DotAttr>();
  const VarId a = e.operands[0].var, b = e.operands[1].var, y = e.results[0];
  const FreeAxes free = free_axes(program_, e);
  int k = 0;
  for (std::size_t i = 0; i < d.batch_lhs.size(); ++i, ++k) {
    join(y, k, a, static_cast<int>(d.batch_lhs[i]));
    join(y, k, b, static_cast<int>(d.batch_rhs[i]));
  }
  for (std::int64_t i : free.lhs) join(y, k++, a, static_cast<int>(i));
  for (std::int64_t i : free.rhs) join(y, k++, b, static_cast<int>(i));
  const auto size = [&](VarId v, const Ints& axes) {
    std::int64_t n = 1;
    for (std::int64_t i : axes) n *= program_.type(v).shape[i];
    return n;
  };
  for (std::size_t i = 0; i < d.contract_lhs.size(); ++i)
    join(a, static_cast<int>(d.contract_lhs[i]), b, static_cast<int>(d.contract_rhs[i]));
  const std::int64_t m = size(a, free.lhs), n = size(b, free.rhs), c = size(a, d.contract_lhs);
  if (c > most_unrolled || std::min(m, n) > most_unrolled) return;
  for (std::int64_t i : d.contract_lhs) mix(a, static_cast<int>(i));
  if (m <= most_unrolled)
    for (std::int64_t i : free.lhs) mix(a, static_cast<int>(i));
  if (n <= most_unrolled)
    for (std::int64_t i : free.rhs) mix(b, static_cast<int>(i));
}

/// Where the places of a number of the result are: by the axes of the indices, and of the array where it is read whole.
void AxisClasses::relate_gather(const Equation& e) {
  if (!e.operands[0].is_var() || !e.operands[1].is_var()) return;
  const VarId array = e.operands[0].var, indices = e.operands[1].var, y = e.results[0];
  const GatherAxes axes = gather_axes(program_, e);
  for (std::size_t k = 0; k < axes.of_indices.size(); ++k) join(y, axes.of_indices[k], indices, static_cast<int>(k));
  mix(indices, program_.type(indices).rank() - 1);
  for (std::size_t k = 0; k < axes.of_array.size(); ++k)
    if (axes.of_array[k] >= 0) join(y, axes.of_array[k], array, static_cast<int>(k));
}

bool AxisClasses::relate_movement(const Equation& e) {
  const VarId y = e.results[0];
  if (e.prim == &prim::broadcast_in_dim) {
    if (e.operands[0].is_var()) {
      const Ints& dims = e.as<BroadcastAttr>().dims;
      for (std::size_t k = 0; k < dims.size(); ++k)
        join(y, static_cast<int>(dims[k]), e.operands[0].var, static_cast<int>(k));
    }
  } else if (e.prim == &prim::transpose) {
    const Ints& perm = e.as<PermutationAttr>().perm;
    for (std::size_t k = 0; k < perm.size(); ++k)
      join(y, static_cast<int>(k), e.operands[0].var, static_cast<int>(perm[k]));
  } else if (e.prim == &prim::reshape) {
    if (e.operands[0].is_var()) relate_reshape(e);
  } else if (e.prim == &prim::slice || e.prim == &prim::dynamic_slice) {
    if (e.operands[0].is_var()) relate_window(e.operands[0].var, y, sliced_);
  } else if (e.prim == &prim::pad) {
    if (e.operands[0].is_var()) relate_window(e.operands[0].var, y, mixed_);
    for (int k = 0; k < program_.type(y).rank(); ++k)
      if (e.as<PadAttr>().interior[k] != 0) mix(y, k);  // also where the extent stays what it was
  } else if (e.prim == &prim::rev) {
    for (int k = 0; k < program_.type(y).rank(); ++k) {
      const Ints& axes = e.as<AxesAttr>().axes;
      if (std::find(axes.begin(), axes.end(), k) == axes.end()) join(y, k, e.operands[0].var, k);
      else mix(y, k), mix(e.operands[0].var, k);
    }
  } else if (e.prim == &prim::add_slice || e.prim == &prim::dynamic_add_slice ||
             e.prim == &prim::dynamic_update_slice) {
    if (e.operands[0].is_var()) relate_window(y, e.operands[0].var, mixed_);
    if (e.operands[1].is_var()) relate_window(y, e.operands[1].var, mixed_);
  } else {
    return false;
  }
  return true;
}

void AxisClasses::relate(const Equation& e) {
  if (e.prim->work == Work::elementwise || e.prim == &prim::stop_gradient) relate_elementwise(e);
  else if (relate_movement(e)) return;
  else if (e.prim == &prim::concatenate) relate_concatenate(e);
  else if (is_reduction(*e.prim)) relate_reduction(e);
  else if (e.prim == &prim::dot_general) relate_dot(e);
  else if (e.prim == &prim::gather) relate_gather(e);
}

}  // namespace anadrome
