// plan_blocks: the size of blocks, the memory between their steps, the products of a block.
#include "native/blocks/plan.h"

#include <algorithm>
#include <numeric>

#include "native/run_kernel.h"
#include "optimize/fuse.h"
#include "optimize/offsets.h"

namespace anadrome::blocks {
namespace {

// Measured on gmm_d64_k25 (docs/kernels.md): what the steps of a block touch, and rows that keep products busy.
constexpr std::int64_t block_bytes = 512 << 10, product_rows = 96;
constexpr std::int64_t handed_bytes = 32 << 10;  // in a block of kernels alone: the first cache

/// Operands as a product of a block sees them.
struct BlockOperand {
  Type type;
  Strides strides;
};

class Planner {
 public:
  Planner(const Program& body, const std::vector<const LoopNest*>& nests, int threads)
      : body_(body), nests_(nests), threads_(threads), value_(body.types.size()), cut_(body.types.size(), whole) {}

  std::optional<BlockPlan> run() {
    auto axes = shared_axes(body_, nests_);
    if (!axes) return std::nullopt;
    axes_ = std::move(*axes);
    find_uses();
    choose_size();
    if (!plan_steps()) return std::nullopt;
    if (repacked_ > 0 && out_.count() > threads_) {
      set_count(threads_);
      if (!plan_steps()) return std::nullopt;
    }
    if (out_.count() < 2 || repacked_ * (out_.count() - 1) > handed_) return std::nullopt;
    find_over();
    return std::move(out_);
  }

 private:
  struct Value {
    std::int64_t maker = -1;          // equation
    std::vector<std::size_t> readers;  // equations
    std::int64_t pointer = -1;        // among operands and results of the whole
    bool is_result = false;
  };

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  const Type& type(VarId v) const { return body_.type(v); }
  std::int64_t stride(VarId v, int axis) const { return row_major(type(v).shape)[at(axis)]; }
  std::int64_t item(VarId v) const { return static_cast<std::int64_t>(item_size(type(v).dtype)); }

  void find_uses() {
    std::int64_t pointer = 0;
    for (VarId v : body_.inputs) value_[v].pointer = pointer++;
    for (const Atom& a : body_.outputs) value_[a.var].pointer = pointer++, value_[a.var].is_result = true;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const Equation& e = body_.equations[i];
      for (std::size_t k = 0; k < e.operands.size(); ++k)
        if (const Atom& a = e.operands[k]; a.is_var()) value_[a.var].readers.push_back(i), cut(a.var, axes_[i].operands[k]);
      for (std::size_t k = 0; k < e.results.size(); ++k)
        value_[e.results[k]].maker = static_cast<std::int64_t>(i), cut(e.results[k], axes_[i].results[k]);
    }
  }
  void cut(VarId v, int axis) { cut_[v] = std::max(cut_[v], axis); }
  bool is_inner(VarId v) const { return value_[v].maker >= 0 && !value_[v].is_result; }

  // ---- how many blocks

  void choose_size() {
    out_.extent = axes_[0].extent;
    std::int64_t bytes = 0, inner = 0, least = 1;  // bytes for each index of the axis
    bool products = false;
    for (std::size_t v = 0; v < value_.size(); ++v) {
      const Value& x = value_[v];
      const auto var = static_cast<VarId>(v);
      if (cut_[v] == whole || (x.maker < 0 && x.readers.empty())) continue;
      const auto all = static_cast<std::int64_t>(type(var).bytes());
      bytes += all / out_.extent;
      if (is_inner(var)) inner += all / out_.extent, handed_ += all;
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      multiple_ = std::lcm(multiple_, axes_[i].multiple);
      least_last_ = std::max(least_last_, axes_[i].least);
      if (nests_[i]) continue;
      products = true;
      if (axes_[i].operands[0] == whole || axes_[i].operands[1] == whole) least = product_rows;
    }
    const std::int64_t size = products ? block_bytes / std::max<std::int64_t>(bytes, 1)
                                       : handed_bytes / std::max<std::int64_t>(inner, 1);
    const std::int64_t count = (out_.extent + std::max(least, size) - 1) / std::max(least, size);
    set_count(count < threads_ && out_.extent < threads_ * least ? count : (count + threads_ - 1) / threads_ * threads_);
  }
  void set_count(std::int64_t count) {
    const std::int64_t size = (out_.extent + count - 1) / std::max<std::int64_t>(count, 1);
    out_.size = std::max<std::int64_t>((size + multiple_ - 1) / multiple_ * multiple_, 1);
    while (out_.count() > 1 && last_size() < least_last_) out_.size += multiple_;
  }

  std::int64_t last_size() const { return out_.extent - (out_.count() - 1) * out_.size; }

  // ---- memory

  /// A place for each value that only the steps hand to each other.
  void place_inner() {
    place_.assign(body_.types.size(), {});
    lives_.clear();
    owners_.clear();
    find_hosts();
    find_lives();
    for (std::size_t v = 0; v < value_.size(); ++v) {
      const auto var = static_cast<VarId>(v);
      if (value_[v].pointer >= 0) place_[v] = {Operand::Base::pointer, static_cast<std::uint32_t>(value_[v].pointer), 0, 0};
      else if (is_inner(var) && host_[v] == var) place_inner(var);
    }
  }
  void place_inner(VarId v) {
    if (!is_outermost(v)) {
      place_[v] = {Operand::Base::shared, 0, out_.shared_bytes, 0};
      add_shared(type(v).bytes());
      out_.handed_whole = out_.shared_bytes;
      return;
    }
    place_[v].base = Operand::Base::block;
    keep(v, first_[v], last_[v], static_cast<std::uint64_t>(stride(v, cut_[v]) * out_.size * item(v)));
  }

  /// True when a block of v is one piece of memory.
  bool is_outermost(VarId v) const { return stride(v, cut_[v]) * type(v).shape[cut_[v]] == type(v).elements(); }

  /// When the memory of each value is in use, by it and by those that lie in it.
  void find_lives() {
    first_.assign(value_.size(), static_cast<std::int64_t>(axes_.size()));
    last_.assign(value_.size(), -1);
    for (std::size_t v = 0; v < value_.size(); ++v) {
      if (!is_inner(static_cast<VarId>(v))) continue;
      const VarId host = host_[v];
      first_[host] = std::min(first_[host], value_[v].maker);
      last_[host] = std::max(last_[host], value_[v].readers.empty() ? value_[v].maker : static_cast<std::int64_t>(value_[v].readers.back()));
    }
  }

  /// The value in whose memory each lies: a result of the last kernel that reads it, if it may be written over it.
  void find_hosts() {
    host_.resize(body_.types.size());
    std::vector<bool> taken(body_.types.size());
    for (std::size_t v = value_.size(); v-- > 0;) {
      const auto var = static_cast<VarId>(v);
      const VarId over = is_inner(var) ? result_over(var, taken) : var;
      if (over != var) taken[over] = true;
      host_[v] = over == var ? var : host_[over];
    }
  }
  VarId result_over(VarId v, const std::vector<bool>& taken) const {
    if (value_[v].readers.empty()) return v;
    const std::size_t i = value_[v].readers.back();
    const Equation& e = body_.equations[i];
    if (!nests_[i] || (nests_[i]->overlaps && !nests_[i]->stores_once)) return v;
    std::size_t k = 0;
    while (!(e.operands[k] == Atom::variable(v))) ++k;
    // The memory of a result may be that of an operand until it is written: only what takes much memory goes there.
    const bool large = !nests_[at(value_[v].maker)] || !is_outermost(v);
    for (std::size_t j = 0; j < e.results.size(); ++j)
      if ((large || is_inner(e.results[j])) && !taken[e.results[j]] && axes_[i].results[j] == cut_[v] && may_overwrite(*e.as<CallAttr>().body, k, j)) return e.results[j];
    return v;
  }
  void add_shared(std::uint64_t bytes) { out_.shared_bytes += in_lines(bytes); }
  void keep(std::optional<VarId> owner, std::int64_t first, std::int64_t last, std::uint64_t bytes) {
    lives_.push_back({first, last, bytes});
    owners_.push_back(owner);
  }
  void lay_out_block() {
    std::size_t operands = 0;
    for (const Equation& e : body_.equations) operands += e.operands.size() + e.results.size();
    const std::uint64_t table = in_lines(operands * sizeof(void*));
    const auto layout = lay_out(lives_);
    out_.block_bytes = table + in_lines(layout.bytes);
    for (std::size_t n = 0; n < lives_.size(); ++n) {
      const std::uint64_t offset = table + layout.offset[n];
      if (owners_[n]) place_[*owners_[n]].offset = offset;
      else out_.steps[at(lives_[n].first)].scratch = offset;
    }
  }

  // ---- steps

  bool plan_steps() {
    out_.reordered.clear();
    out_.steps.clear();
    out_.constants.clear();
    out_.shared_bytes = out_.handed_whole = 0;
    out_.nanoseconds = 0;
    repacked_ = 0;
    place_inner();
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (!(nests_[i] ? add_kernel(i) : add_product(i))) return false;
    lay_out_block();
    for (std::size_t v = 0; v < value_.size(); ++v)
      if (is_inner(static_cast<VarId>(v))) place_[v] = place_[host_[v]];
    for (std::size_t i = 0; i < axes_.size(); ++i) find_operands(i);
    return true;
  }
  bool add_kernel(std::size_t i) {
    BlockStep s;
    s.equation = static_cast<std::uint32_t>(i);
    s.per_index = axes_[i].per_index;
    s.counts = axes_[i].counts;
    const LoopNest& nest = *nests_[i];
    out_.nanoseconds += item_nanoseconds(nest) * static_cast<double>(nest.loops[at(nest.ranged())].extent);
    out_.steps.push_back(std::move(s));
    return true;
  }

  BlockOperand block_operand(VarId v, int axis, std::int64_t n) const {
    BlockOperand out{type(v), row_major(type(v).shape)};
    if (axis != whole) out.type.shape[axis] = n;
    return out;
  }
  std::optional<products::Product> block_product(std::size_t i, std::int64_t n) const {
    const Equation& e = body_.equations[i];
    const ProductAxes p = product_of(body_, e);
    BlockOperand x[2];
    for (std::size_t k = 0; k < 2; ++k) {
      x[k] = block_operand(e.operands[k].var, axes_[i].operands[k], n);
      if (reordered_[k]) x[k].strides = reordered_strides(p.dims, k, x[k].type.shape);
    }
    const Strides by_axis = product_view(p, type(e.results[0]).shape);
    const auto view = [](const Strides& s, int rank) { return products::View(s.data(), static_cast<std::size_t>(rank)); };
    return products::plan_product(p.dims, x[0].type, x[1].type,
                                  {.lhs_view = view(x[0].strides, x[0].type.rank()),
                                   .rhs_view = view(x[1].strides, x[1].type.rank()),
                                   .out_view = view(by_axis, p.perm.rank())});
  }
  /// Row-major with batch axes first, then the contracted ones: a step along the others is one element.
  static Strides reordered_strides(const DotAttr& dims, std::size_t k, const Shape& shape) {
    const Ints &batch = k == 0 ? dims.batch_lhs : dims.batch_rhs, &contracted = k == 0 ? dims.contract_lhs : dims.contract_rhs;
    std::vector<int> order(batch.begin(), batch.end());
    order.insert(order.end(), contracted.begin(), contracted.end());
    for (int a = 0; a < shape.rank(); ++a)
      if (std::find(order.begin(), order.end(), a) == order.end()) order.push_back(a);
    Strides out{};
    std::int64_t step = 1;
    for (auto a = order.rbegin(); a != order.rend(); ++a) out[at(*a)] = step, step *= shape[*a];
    return out;
  }

  bool add_product(std::size_t i) {
    const Equation& e = body_.equations[i];
    if (!e.operands[0].is_var() || !e.operands[1].is_var() || e.operands[0] == e.operands[1]) return false;
    reordered_[0] = reordered_[1] = false;
    auto full = block_product(i, out_.size);
    if (!full || !full->is_tiled()) return false;
    for (std::size_t k = 0; k < 2; ++k) {
      if (axes_[i].operands[k] != whole || !full->packs(static_cast<int>(k))) continue;
      const auto bytes = static_cast<std::int64_t>(type(e.operands[k].var).bytes());
      reordered_[k] = true;
      auto better = block_product(i, out_.size);
      if (better->is_tiled() && !better->packs(static_cast<int>(k))) {
        full = std::move(better);
        reorder(e, k);
      } else {
        reordered_[k] = false;
        repacked_ += bytes;
      }
    }
    auto last = block_product(i, last_size());
    if (!last || !last->is_tiled()) return false;
    BlockStep s;
    s.equation = static_cast<std::uint32_t>(i);
    out_.nanoseconds += full->nanoseconds() * static_cast<double>(out_.count());
    keep(std::nullopt, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i), std::max(full->scratch_bytes(1), last->scratch_bytes(1)));
    s.product = std::move(full), s.last_product = std::move(last);
    out_.steps.push_back(std::move(s));
    copy_of_.resize(2 * axes_.size());
    for (std::size_t k = 0; k < 2; ++k) copy_of_[2 * i + k] = reordered_[k] ? static_cast<std::int64_t>(out_.reordered.size()) - 1 : -1;
    return true;
  }
  void reorder(const Equation& e, std::size_t k) {
    const VarId v = e.operands[k].var;
    const Strides from = row_major(type(v).shape), to = reordered_strides(product_of(body_, e).dims, k, type(v).shape);
    Reordered r;
    r.dtype = type(v).dtype;
    r.from = place_[v];
    r.to = {Operand::Base::shared, 0, out_.shared_bytes, 0};
    for (int a = 0; a < type(v).rank(); ++a) r.loops.add(type(v).shape[a], to[at(a)], from[at(a)]);
    add_shared(type(v).bytes());
    out_.reordered.push_back(r);
  }

  // ---- results over operands

  void find_over() {
    for (std::uint32_t k = 0; k < body_.inputs.size(); ++k)
      for (std::uint32_t j = 0; j < body_.outputs.size(); ++j)
        if (may_lie_over(body_.inputs[k], body_.outputs[j].var)) out_.over.emplace_back(k, j);
  }
  /// True when each block of y is written after that block of x, at the same place, has been read for the last time.
  bool may_lie_over(VarId x, VarId y) const {
    if (type(x) != type(y) || value_[x].readers.empty() || cut_[y] != cut_[x]) return false;
    for (std::size_t i : value_[x].readers)
      for (std::size_t k = 0; k < body_.equations[i].operands.size(); ++k)
        if (body_.equations[i].operands[k] == Atom::variable(x) && axes_[i].operands[k] != cut_[y]) return false;
    if (has_guest(y)) return false;
    const std::size_t last = value_[x].readers.back(), made = at(value_[y].maker);
    if (last != made) return last < made;
    const Equation& e = body_.equations[made];
    if (!nests_[made] || (nests_[made]->overlaps && !nests_[made]->stores_once)) return false;
    const auto k = std::find(e.operands.begin(), e.operands.end(), Atom::variable(x)) - e.operands.begin();
    const auto j = std::find(e.results.begin(), e.results.end(), y) - e.results.begin();
    return may_overwrite(*e.as<CallAttr>().body, static_cast<std::size_t>(k), static_cast<std::size_t>(j));
  }
  /// True when another value lies in the memory of y before y is written.
  bool has_guest(VarId y) const {
    for (std::size_t v = 0; v < host_.size(); ++v)
      if (v != y && host_[v] == y) return true;
    return false;
  }

  // ---- operands

  void find_operands(std::size_t i) {
    const Equation& e = body_.equations[i];
    BlockStep& s = out_.steps[i];
    for (std::size_t k = 0; k < e.operands.size(); ++k) {
      if (!e.operands[k].is_var()) s.at.push_back(constant(e.operands[k]));
      else if (!nests_[i] && copy_of_[2 * i + k] >= 0) s.at.push_back(out_.reordered[at(copy_of_[2 * i + k])].to);
      else s.at.push_back(operand(e.operands[k].var, axes_[i].operands[k], s.counts));
    }
    for (std::size_t k = 0; k < e.results.size(); ++k) s.at.push_back(operand(e.results[k], axes_[i].results[k], s.counts));
  }
  /// A kernel that counts wants the beginning of the array, all others that of the block.
  Operand operand(VarId v, int axis, bool counts) const {
    Operand o = place_[v];
    if (axis == whole) return o;
    const std::int64_t bytes = stride(v, axis) * item(v);
    if (o.base == Operand::Base::block) o.step = counts ? -bytes : 0;
    else o.step = counts ? 0 : bytes;
    return o;
  }
  Operand constant(const Atom& a) {
    std::uint64_t word = 0;
    a.literal.store(&word);
    out_.constants.push_back(word);
    return {Operand::Base::constant, 0, 8 * (out_.constants.size() - 1), 0};
  }

  const Program& body_;
  const std::vector<const LoopNest*>& nests_;
  int threads_;
  std::vector<Value> value_;  // by variable
  std::vector<int> cut_;      // by variable
  std::vector<StepAxes> axes_;
  std::int64_t multiple_ = 1, least_last_ = 1;  // of the size of blocks, and the size of the last one
  std::int64_t handed_ = 0;    // bytes that steps hand to each other
  std::int64_t repacked_ = 0;  // bytes that each block packs, though they are the same for all
  std::vector<Operand> place_;  // by variable
  std::vector<std::int64_t> first_, last_;  // by variable: steps in which its memory is in use
  std::vector<VarId> host_;     // by variable: the one in whose memory it lies
  std::vector<Lifetime> lives_;
  std::vector<std::optional<VarId>> owners_;  // beside lives_; none: the scratch memory of a product
  bool reordered_[2] = {};
  std::vector<std::int64_t> copy_of_;  // by equation and operand: which of out_.reordered, or -1
  BlockPlan out_;
};

}  // namespace

std::optional<BlockPlan> plan_blocks(const Program& body, const std::vector<const LoopNest*>& nests, int threads) {
  return Planner(body, nests, threads).run();
}

}  // namespace anadrome::blocks
