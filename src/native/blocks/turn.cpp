// turned_inside: kernels transpose what they read and write, products take other axes.
#include "native/blocks/turn.h"

#include <algorithm>
#include <numeric>

#include "core/intern.h"
#include "optimize/fuse.h"
#include "primitives/prims.h"

namespace anadrome::blocks {
namespace {

Ints inverse(const Ints& order) {
  Ints out = order;
  for (int k = 0; k < order.rank(); ++k) out[static_cast<int>(order[k])] = k;
  return out;
}
Type turned(Type type, const Ints& order) {
  const Shape from = type.shape;
  for (int k = 0; k < order.rank(); ++k) type.shape[k] = from[static_cast<int>(order[k])];
  return type;
}

class Turner {
 public:
  Turner(const Program& body, const std::vector<StepAxes>& axes) : body_(body), axes_(axes), out_(body), order_(body.types.size()) {}

  ProgramPtr run() {
    find_turned();
    if (std::all_of(order_.begin(), order_.end(), [](const Ints& o) { return o.empty(); })) return nullptr;
    for (Equation& e : out_.equations)
      if (e.prim == &loop_kernel) turn_kernel(e);
      else turn_product(e);
    return intern(std::move(out_));
  }

 private:
  void find_turned() {
    std::vector<bool> is_result(body_.types.size());
    for (const Atom& a : body_.outputs) is_result[a.var] = true;
    for (std::size_t i = 0; i < axes_.size(); ++i)
      for (std::size_t k = 0; k < axes_[i].results.size(); ++k)
        if (const VarId v = body_.equations[i].results[k]; !is_result[v]) turn(v, axes_[i].results[k]);
  }
  void turn(VarId v, int axis) {
    const Shape shape = body_.type(v).shape;
    if (std::all_of(shape.begin(), shape.begin() + axis, [](std::int64_t n) { return n == 1; })) return;
    Ints order{axis};
    for (int k = 0; k < shape.rank(); ++k)
      if (k != axis) order.push_back(k);
    order_[v] = order;
    out_.types[v] = turned(out_.types[v], order);
  }
  const Ints* order_of(const Atom& a) const { return a.is_var() && !order_[a.var].empty() ? &order_[a.var] : nullptr; }

  // ---- kernels

  static Equation transposed(const Program& body, VarId from, const Ints& perm, VarId to) {
    Equation e;
    e.prim = &prim::transpose;
    e.attrs = PermutationAttr{perm};
    e.operands = {Atom::variable(from)};
    e.results = {to};
    e.region = body.equations.back().region;
    e.origin = body.equations.back().origin;
    return e;
  }
  static VarId new_value(Program& body, const Type& type) {
    body.types.push_back(type);
    return static_cast<VarId>(body.types.size() - 1);
  }
  void turn_kernel(Equation& e) const {
    Program body = *e.as<CallAttr>().body;
    std::vector<Equation> first;
    for (std::size_t k = 0; k < e.operands.size(); ++k) {
      const Ints* order = order_of(e.operands[k]);
      if (!order) continue;
      const VarId read = body.inputs[k];
      body.inputs[k] = new_value(body, turned(body.type(read), *order));
      first.push_back(transposed(body, body.inputs[k], inverse(*order), read));
    }
    for (std::size_t k = 0; k < e.results.size(); ++k) {
      const Ints& order = order_[e.results[k]];
      if (order.empty()) continue;
      const VarId made = body.outputs[k].var, result = new_value(body, turned(body.type(made), order));
      body.equations.push_back(transposed(body, made, order, result));
      body.outputs[k] = Atom::variable(result);
    }
    body.equations.insert(body.equations.begin(), first.begin(), first.end());
    set_body(e, loop_kernel, std::move(body));
  }
  void set_body(Equation& e, const Prim& prim, Program body) const {
    e.prim = &prim;
    e.attrs = CallAttr{std::string(prim.name), {intern(std::move(body)), body_.sources}};
  }

  // ---- products

  /// Free axes, by their old numbers, in the order that they have behind a change of the axes' order.
  static Ints moved(Ints free, const Ints& order) {
    if (order.empty()) return free;
    const Ints place = inverse(order);
    std::sort(free.begin(), free.end(), [&](std::int64_t a, std::int64_t b) { return place[static_cast<int>(a)] < place[static_cast<int>(b)]; });
    return free;
  }
  static void renumber(Ints& axes, const Ints& order) {
    if (order.empty()) return;
    const Ints place = inverse(order);
    for (std::int64_t& a : axes) a = place[static_cast<int>(a)];
  }
  const Ints& order_or_none(const Atom& a) const {
    static const Ints none;
    const Ints* order = order_of(a);
    return order ? *order : none;
  }

  void turn_product(Equation& e) const {
    ProductAxes p = product_of(body_, e);
    const Ints &lhs = order_or_none(e.operands[0]), &rhs = order_or_none(e.operands[1]), &result = order_[e.results[0]];
    if (lhs.empty() && rhs.empty() && result.empty()) return;
    DotAttr& d = p.dims;
    // Where each axis of the product goes when the free axes of its operands change places.
    const FreeAxes free = free_axes(d, body_.type(e.operands[0]).rank(), body_.type(e.operands[1]).rank());
    Ints places;
    for (int k = 0; k < d.batch_lhs.rank(); ++k) places.push_back(k);
    const auto add = [&](const Ints& before, const Ints& after) {
      const auto start = static_cast<std::int64_t>(places.size());
      for (std::int64_t axis : before) places.push_back(start + (std::find(after.begin(), after.end(), axis) - after.begin()));
    };
    add(free.lhs, moved(free.lhs, lhs));
    add(free.rhs, moved(free.rhs, rhs));
    renumber(d.contract_lhs, lhs), renumber(d.batch_lhs, lhs);
    renumber(d.contract_rhs, rhs), renumber(d.batch_rhs, rhs);
    Ints perm;
    for (int k = 0; k < p.perm.rank(); ++k)
      perm.push_back(places[static_cast<int>(p.perm[static_cast<int>(result.empty() ? k : result[k])])]);
    set_product(e, d, perm);
  }
  void set_product(Equation& e, const DotAttr& dims, const Ints& perm) const {
    Ints straight = perm;
    std::iota(straight.begin(), straight.end(), 0);
    if (perm == straight) {
      e.prim = &prim::dot_general;
      e.attrs = dims;
      return;
    }
    Program body;
    const VarId lhs = new_value(body, out_.type(e.operands[0])), rhs = new_value(body, out_.type(e.operands[1]));
    const Type type = out_.type(e.results[0]);
    const VarId product = new_value(body, turned(type, inverse(perm))), result = new_value(body, type);
    body.inputs = {lhs, rhs};
    body.outputs = {Atom::variable(result)};
    Equation dot;
    dot.prim = &prim::dot_general;
    dot.attrs = dims;
    dot.operands = {Atom::variable(lhs), Atom::variable(rhs)};
    dot.results = {product};
    dot.region = e.region, dot.origin = e.origin;
    body.equations.push_back(dot);
    body.equations.push_back(transposed(body, product, perm, result));
    set_body(e, turned_product, std::move(body));
  }

  const Program& body_;
  const std::vector<StepAxes>& axes_;
  Program out_;
  std::vector<Ints> order_;  // by variable: the old number of each axis; empty where nothing changes
};

}  // namespace

ProgramPtr turned_inside(const Program& body, const std::vector<StepAxes>& axes) { return Turner(body, axes).run(); }

}  // namespace anadrome::blocks
