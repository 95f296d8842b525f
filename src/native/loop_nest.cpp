// make_loop_nest: the loops that all results share, their order, and the one that runs through lanes.
#include "native/loop_nest.h"

#include <algorithm>
#include <bit>
#include <map>

#include "native/emittable.h"
#include "optimize/fuse.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

/// A loop while it is looked for: a class of axes, counted apart where one value has it twice.
using Key = std::pair<int, int>;

struct RootAxes {
  const Equation* reduction = nullptr;
  VarId value = 0;
  std::vector<Key> keys;  // by axis; class `none` for axes of extent 1 and for unrolled ones
  std::vector<bool> reduced;
};

constexpr std::int64_t block_points = 16384;  // of a sum over everything
constexpr std::int64_t most_blocks = 256;
constexpr std::int64_t many_columns = 8;      // vectors: so many totals hide the way to memory and back
constexpr double most_tile_operations = 256;  // of the copies of a body in a tile
constexpr double call_operations = 8;         // what calling a function takes in a chain
constexpr double function_operations = 12;    // what a function takes on a whole vector: 7 ns
constexpr double heavy_operations = 40;  // bodies from here on are not unrolled, and are written once
constexpr double few_operations = 3;  // bodies from here on are written once too if they run through few points:
constexpr std::int64_t few_points = 65536;

class NestMaker {
 public:
  NestMaker(const Program& body, int vector_bytes) : body_(body), classes_(body), vector_bytes_(vector_bytes) {
    defined_.assign(body.types.size(), nullptr);
    for (const Equation& e : body.equations)
      for (VarId v : e.results) defined_[v] = &e;
  }

  std::optional<LoopNest> run() {
    for (const Atom& a : body_.outputs)
      if (!add_root(a.var)) return std::nullopt;
    if (!find_shared()) return std::nullopt;
    merge_loops();
    if (!check_order()) return std::nullopt;
    choose_lane();
    return build();
  }

 private:
  bool add_root(VarId v) {
    const Equation* e = defined_[v];
    RootAxes r;
    r.value = v;
    if (e && is_reduction(*e->prim) && e->operands[0].is_var()) {
      const Ints& axes = reduced_axes(*e);
      bool loops = false;
      for (std::int64_t k : axes) loops |= !classes_.unrolled(e->operands[0].var, static_cast<int>(k));
      if (loops) r.reduction = e, r.value = e->operands[0].var;
    }
    const Type& type = body_.type(r.value);
    std::map<int, int> times;
    for (int k = 0; k < type.rank(); ++k) {
      const bool summed = r.reduction && contains(reduced_axes(*r.reduction), k);
      const int c = unrolls(r.value, k, summed) ? AxisClasses::none : classes_.of(r.value, k);
      if (c == AxisClasses::none && summed && type.shape[k] != 1) return false;
      r.keys.push_back({c, c == AxisClasses::none ? 0 : times[c]++});
      r.reduced.push_back(summed);
    }
    roots_.push_back(std::move(r));
    return true;
  }
  /// Slices of an axis that fills vectors are read by a loop: less code than an element each.
  bool unrolls(VarId v, int axis, bool summed) const {
    const std::int64_t lanes = vector_bytes_ / static_cast<int>(item_bytes(body_.type(v).dtype));
    const bool fills = body_.type(v).shape[axis] >= 2 * lanes;
    return classes_.unrolled(v, axis) && (summed || !fills || !classes_.only_sliced(v, axis) || slices_values());
  }
  /// True for slices of what the body computes, which may need to know the place along the axis (gaps of padding).
  bool slices_values() const {
    return std::any_of(body_.equations.begin(), body_.equations.end(), [&](const Equation& e) {
      const bool window = e.prim == &prim::slice || e.prim == &prim::dynamic_slice;
      return window && e.operands[0].is_var() && defined_[e.operands[0].var];
    });
  }
  static bool contains(const Ints& list, std::int64_t k) { return std::find(list.begin(), list.end(), k) != list.end(); }

  /// The loops are those of all results; what only some have must be short, and is unrolled.
  bool find_shared() {
    const auto has = [](const RootAxes& r, const Key& key) {
      return std::find(r.keys.begin(), r.keys.end(), key) != r.keys.end();
    };
    for (RootAxes& r : roots_)
      for (std::size_t k = 0; k < r.keys.size(); ++k) {
        if (r.keys[k].first == AxisClasses::none) continue;
        const bool shared = std::all_of(roots_.begin(), roots_.end(),
                                        [&](const RootAxes& other) { return has(other, r.keys[k]); });
        const std::int64_t extent = body_.type(r.value).shape[static_cast<int>(k)];
        if (shared) {
          extent_[r.keys[k]] = extent;
          if (r.reduced[k]) reduced_[r.keys[k]] = true;
        } else if (extent > AxisClasses::most_unrolled || r.reduced[k]) {
          return false;
        }
      }
    for (RootAxes& r : roots_) {
      for (std::size_t k = 0; k < r.keys.size(); ++k) {
        if (r.keys[k].first == AxisClasses::none) continue;
        if (!extent_.count(r.keys[k])) r.keys[k] = {AxisClasses::none, 0};
        else if (r.reduction && reduced_.count(r.keys[k]) && !r.reduced[k]) return false;
      }
    }
    std::size_t most = 0;
    for (const RootAxes& r : roots_) {  // the order of the result with most elements
      std::vector<Key> order;
      for (const Key& key : r.keys)
        if (key.first != AxisClasses::none) order.push_back(key);
      const auto n = static_cast<std::size_t>(body_.type(r.value).elements());
      if (n > most || order_.empty()) order_ = order, most = n;
    }
    return order_.size() <= most_loops && order_.size() == extent_.size();
  }

  // ---- one loop for axes that lie behind each other everywhere

  bool breaks(const Equation& e) const {
    return e.prim == &prim::iota || e.prim == &prim::identity || e.prim == &prim::slice || e.prim == &prim::pad ||
           e.prim == &prim::rev || e.prim == &prim::concatenate || e.prim == &prim::add_slice ||
           e.prim == &prim::dynamic_slice || e.prim == &prim::dynamic_add_slice ||
           e.prim == &prim::dynamic_update_slice || e.prim == &prim::reshape || e.prim == &prim::gather;
  }
  /// True when in memory every argument and result has axis class `a` right before `b`, or neither.
  bool adjacent(int a, int b) const {
    const auto fits = [&](VarId v) {
      int last = AxisClasses::none;
      bool has_a = false, has_b = false, good = true;
      for (int k = 0; k < body_.type(v).rank(); ++k) {
        const int c = classes_.of(v, k);
        if (c == AxisClasses::none) continue;
        if (c == b) good &= last == a && !has_b, has_b = true;
        if (c == a) good &= !has_a, has_a = true;
        last = c;
      }
      return good && has_a == has_b;
    };
    return std::all_of(body_.inputs.begin(), body_.inputs.end(), fits) &&
           std::all_of(body_.outputs.begin(), body_.outputs.end(), [&](const Atom& o) { return fits(o.var) || summed(o.var); });
  }
  bool summed(VarId v) const {
    return std::any_of(roots_.begin(), roots_.end(), [&](const RootAxes& r) {
      return r.reduction && r.reduction->results[0] == v;
    });
  }
  /// The same for what is summed, whose reduced axes the results do not have.
  bool adjacent_in_sums(const Key& a, const Key& b) const {
    return std::all_of(roots_.begin(), roots_.end(), [&](const RootAxes& r) {
      if (!r.reduction) return true;
      const auto at = [&](const Key& key) { return std::find(r.keys.begin(), r.keys.end(), key) - r.keys.begin(); };
      if (r.reduced[static_cast<std::size_t>(at(a))] != r.reduced[static_cast<std::size_t>(at(b))]) return false;
      if (r.reduced[static_cast<std::size_t>(at(a))]) return true;
      for (auto k = at(a) + 1; k < at(b); ++k)
        if (!r.reduced[static_cast<std::size_t>(k)] && r.keys[static_cast<std::size_t>(k)].first != AxisClasses::none)
          return false;
      return at(a) < at(b);
    });
  }
  void merge_loops() {
    if (std::any_of(body_.equations.begin(), body_.equations.end(), [&](const Equation& e) { return breaks(e); }))
      return;
    for (std::size_t k = order_.size(); k-- > 1;) {
      const Key a = order_[k - 1], b = order_[k];
      if (a.second || b.second || reduced_.count(a) != reduced_.count(b)) continue;
      const Key outermost = outermost_.count(b) ? outermost_[b] : b;  // of the axes that b runs through already
      if (!adjacent(a.first, outermost.first) || !adjacent_in_sums(a, outermost)) continue;
      extent_[b] *= extent_[a];
      merged_[a] = b;
      outermost_[b] = a;
      order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(k - 1));
    }
  }

  // ---- order and lanes

  /// Kept loops first. The results must agree which loops are summed.
  bool check_order() {
    std::stable_partition(order_.begin(), order_.end(), [&](const Key& key) { return !reduced_.count(key); });
    return true;
  }

  /// What it costs to read or write v once a point if `loop` runs through lanes.
  double access_cost(VarId v, const Key& loop, int lanes) const {
    double unrolled = 1, stride = 1, found = 0;
    for (int k = body_.type(v).rank(); k-- > 0;) {
      const int c = classes_.of(v, k);
      if (c == loop.first) found = stride;
      else if (is_unrolled(v, k)) unrolled *= static_cast<double>(body_.type(v).shape[k]);
      stride *= static_cast<double>(body_.type(v).shape[k]);
    }
    return unrolled * (found == 0 ? 0.25 : found == 1 ? 1 : lanes);
  }
  /// True for a short axis that no loop runs through. Long ones without a loop are read at computed places.
  bool is_unrolled(VarId v, int axis) const {
    const int c = classes_.of(v, axis);
    return c != AxisClasses::none && body_.type(v).shape[axis] <= AxisClasses::most_unrolled &&
           std::none_of(order_.begin(), order_.end(), [&](const Key& key) { return key.first == c; }) &&
           std::none_of(merged_.begin(), merged_.end(), [&](const auto& m) { return m.first.first == c; });
  }
  int widest_item() const {
    std::size_t most = 1;
    for (const Equation& e : body_.equations)
      for (VarId v : e.results) most = std::max(most, item_bytes(body_.type(v).dtype));
    for (VarId v : body_.inputs)
      if (body_.type(v).rank()) most = std::max(most, item_bytes(body_.type(v).dtype));
    return static_cast<int>(most);
  }
  static std::size_t item_bytes(DType t) { return t == DType::bf16 || t == DType::f16 ? 4 : item_size(t); }

  void choose_lane() {
    const int most = std::max(1, vector_bytes_ / std::max(widest_item(), 2));
    double best = 0;
    for (const Key& key : order_) {
      const std::int64_t n = extent_.at(key);
      const int lanes = static_cast<int>(std::min<std::int64_t>(most, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)))));
      double cost = 1;
      for (VarId v : body_.inputs) cost += access_cost(v, key, lanes);
      for (const Atom& a : body_.outputs)
        if (!summed(a.var)) cost += access_cost(a.var, key, lanes);
      const double rounds = static_cast<double>((n + lanes - 1) / lanes);
      cost = (cost + static_cast<double>(body_.equations.size())) * rounds / static_cast<double>(n);
      if (lane_.first != AxisClasses::none && cost > best) continue;
      best = cost, lane_ = key, lanes_ = lanes;
    }
    // The lanes run innermost among the kept loops, or innermost of all.
    if (lane_.first == AxisClasses::none) return;
    const auto at = std::find(order_.begin(), order_.end(), lane_);
    const bool reduced = reduced_.count(lane_) != 0;
    inside_ = !reduced && !reduced_.empty() && extent_.at(lane_) >= many_columns * lanes_ &&
              operations() < heavy_operations && !has_logical_sums();
    order_.erase(at);
    const auto end = reduced || inside_ ? order_.end() : std::find_if(order_.begin(), order_.end(), [&](const Key& k) {
      return reduced_.count(k) != 0;
    });
    order_.insert(end, lane_);
  }

  bool has_logical_sums() const {
    return std::any_of(roots_.begin(), roots_.end(), [&](const RootAxes& r) {
      return r.reduction && body_.type(r.value).dtype == DType::b1;
    });
  }
  double operations(double of_function = 1) const {
    double n = 0;
    for (const Equation& e : body_.equations) {
      double k = 1;
      const VarId v = e.operands.size() && e.operands[0].is_var() && is_reduction(*e.prim) ? e.operands[0].var : e.results[0];
      for (int a = 0; a < body_.type(v).rank(); ++a)
        if (is_unrolled(v, a))
          k *= static_cast<double>(body_.type(v).shape[a]);
      if (e.prim == &prim::dot_general)
        for (std::int64_t a : e.as<DotAttr>().contract_lhs)
          k *= static_cast<double>(body_.type(e.operands[0]).shape[static_cast<int>(a)]);
      if (e.prim->work == Work::elementwise && emission(*e.prim) == Emission::function) k *= of_function;
      n += e.prim->work == Work::movement ? 0 : k;
    }
    return std::max(1.0, n);
  }

  // ---- tiles

  /// Elements of v between neighbours along a loop; 0 where v does not run along it.
  std::int64_t stride_along(VarId v, const Key& loop) const {
    std::int64_t stride = 1;
    for (int k = body_.type(v).rank(); k-- > 0; stride *= body_.type(v).shape[k])
      if (classes_.of(v, k) == loop.first) return stride;
    return 0;
  }
  /// The loop that runs through the memory of values that the lanes cross; the last one of the order if there is none.
  std::size_t tile_loop(const LoopNest& nest) const {
    std::vector<VarId> values;
    for (VarId v : body_.inputs) values.push_back(v);
    for (const Atom& a : body_.outputs) values.push_back(a.var);
    for (VarId v : values) {
      if (stride_along(v, lane_) <= 1 || item_size(body_.type(v).dtype) < 4) continue;
      for (std::size_t d = 0; d < order_.size(); ++d)
        if (order_[d] != lane_ && stride_along(v, order_[d]) == 1 && order_[d].second == 0 &&
            extent_.at(order_[d]) >= nest.lanes)
          return d;
    }
    return order_.size();
  }
  void choose_tile(LoopNest& nest) const {
    const bool vectors = nest.lane >= 0 && nest.lanes >= 4 && lane_.second == 0 && extent_.at(lane_) >= nest.lanes;
    if (!vectors || !reduced_.empty() || nest.operations * nest.lanes > most_tile_operations) return;
    const std::size_t d = tile_loop(nest);
    if (d == order_.size()) return;
    nest.tile = static_cast<int>(d);
    nest.overlaps = extent_.at(lane_) % nest.lanes != 0 || extent_.at(order_[d]) % nest.lanes != 0;
  }

  // ---- chains

  /// True when the longest chain of equations, each waiting for the one before, is a large part of the body.
  bool is_chain() const {
    std::vector<double> ready(body_.types.size());
    double all = 0, longest = 0;
    for (const Equation& e : body_.equations) {
      const double time = e.prim->work == Work::elementwise && emission(*e.prim) == Emission::function ? call_operations : 1;
      double start = 0;
      for (const Atom& a : e.operands)
        if (a.is_var()) start = std::max(start, ready[a.var]);
      for (VarId v : e.results) ready[v] = start + time;
      longest = std::max(longest, start + time);
      all += time;
    }
    return longest * 3 >= all;
  }
  /// Two vectors at a time where a processor would wait.
  void choose_copies(LoopNest& nest) const {
    const bool simple = std::all_of(body_.equations.begin(), body_.equations.end(), [&](const Equation& e) {
      return e.prim->work == Work::elementwise || body_.type(e.results[0]).rank() == 0 || e.prim == &prim::broadcast_in_dim;
    });
    const bool stores = std::all_of(roots_.begin(), roots_.end(), [&](const RootAxes& r) {
      return !r.reduction && body_.type(r.value).shape == body_.type(roots_[0].value).shape;
    });
    if (nest.lane < 0 || nest.lanes < 2 || nest.tile >= 0 || !simple || !stores || nest.operations < heavy_operations) return;
    const std::int64_t extent = extent_.at(lane_);
    if (extent < 4 * nest.lanes || unrolled_roots() || !is_chain()) return;
    nest.copies = 2;
    nest.overlaps = extent % (2 * nest.lanes) != 0;
  }
  bool unrolled_roots() const {
    for (const RootAxes& r : roots_)
      for (std::size_t k = 0; k < r.keys.size(); ++k)
        if (r.keys[k].first == AxisClasses::none && body_.type(r.value).shape[static_cast<int>(k)] != 1) return true;
    return false;
  }

  LoopNest build() {
    LoopNest out;
    std::map<Key, int> loop_of;
    for (const Key& key : order_) {
      loop_of[key] = static_cast<int>(out.loops.size());
      out.loops.push_back({extent_.at(key), reduced_.count(key) != 0});
    }
    for (const RootAxes& r : roots_) out.roots.push_back(root(r, loop_of));
    if (lane_.first != AxisClasses::none) out.lane = loop_of.at(lane_), out.lanes = lanes_;
    out.operations = operations();
    out.time = operations(function_operations);
    const bool heavy = out.operations >= heavy_operations;
    out.lanes_inside_sums = inside_;
    if (out.first_reduced() < static_cast<int>(out.loops.size()) && !heavy && !inside_ && !is_short_sum(out)) out.unroll = 4;
    const bool once = heavy || (out.operations >= few_operations && out.points() <= few_points && !works_in_place());
    if (once && out.lane >= 0 && out.unroll == 1 && !inside_) {
      const auto n = static_cast<std::uint64_t>(out.loops[static_cast<std::size_t>(out.lane)].extent);
      out.lanes = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(out.lanes), std::bit_floor(n)));
      out.overlaps = n % static_cast<std::uint64_t>(out.lanes) != 0;
    }
    choose_tile(out);
    choose_copies(out);
    const bool kept_lanes = out.lane >= 0 && !out.loops[static_cast<std::size_t>(out.lane)].reduced;
    out.stores_once = out.overlaps && kept_lanes && out.tile < 0 && works_in_place();
    if (!out.loops.empty() && out.first_reduced() == 0 && !inside_)
      out.blocks = std::clamp<std::int64_t>(out.points() / block_points, 1, most_blocks);
    return out;
  }
  /// True when a result may take the memory of an argument, which vectors that overlap would forbid.
  bool works_in_place() const {
    for (std::size_t k = 0; k < body_.inputs.size(); ++k)
      for (std::size_t j = 0; j < body_.outputs.size(); ++j)
        if (may_overwrite(body_, k, j)) return true;
    return false;
  }
  /// True for sums of so few vectors that copies of the body gain nothing.
  static bool is_short_sum(const LoopNest& nest) {
    std::int64_t terms = 1;
    for (const Loop& l : nest.loops) terms *= l.reduced ? l.extent : 1;
    const bool lanes_summed = nest.lane >= 0 && nest.loops[static_cast<std::size_t>(nest.lane)].reduced;
    return terms < 16 * (lanes_summed ? nest.lanes : 1);
  }
  NestRoot root(const RootAxes& r, const std::map<Key, int>& loop_of) const {
    NestRoot out;
    out.reduction = r.reduction;
    out.value = r.value;
    for (std::size_t k = 0; k < r.keys.size(); ++k) {
      const std::int64_t extent = body_.type(r.value).shape[static_cast<int>(k)];
      if (!r.reduced[k]) out.kept.push_back(static_cast<int>(k));
      if (r.keys[k].first == AxisClasses::none) out.axes.push_back({NestAxis::unrolled, extent, false});
      else if (merged_.count(r.keys[k])) out.axes.push_back({0, extent, true});
      else out.axes.push_back({loop_of.at(r.keys[k]), extent, false});
    }
    return out;
  }

  const Program& body_;
  AxisClasses classes_;
  int vector_bytes_;
  std::vector<const Equation*> defined_;
  std::vector<RootAxes> roots_;
  std::map<Key, std::int64_t> extent_;
  std::map<Key, bool> reduced_;
  std::map<Key, Key> merged_;     // outer axis -> the loop that runs through it too
  std::map<Key, Key> outermost_;  // loop -> the outermost axis that it runs through
  std::vector<Key> order_;
  Key lane_{AxisClasses::none, 0};
  int lanes_ = 1;
  bool inside_ = false;  // the lanes run inside the reduced loops
};

}  // namespace

std::optional<LoopNest> make_loop_nest(const Program& body, int vector_bytes) {
  return NestMaker(body, vector_bytes).run();
}

}  // namespace anadrome
