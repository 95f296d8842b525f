// with_added_products.
#include "optimize/added_products.h"

#include <algorithm>

#include "core/intern.h"
#include "optimize/fuse_body.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

class Adder {
 public:
  explicit Adder(Fused steps)
      : steps_(std::move(steps)), program_(steps_.program), maker_(program_.types.size(), -1), readers_(program_.types.size()) {
    for (std::size_t i = 0; i < program_.equations.size(); ++i) {
      for (const Atom& a : program_.equations[i].operands)
        if (a.is_var()) ++readers_[a.var];
      for (VarId v : program_.equations[i].results) maker_[v] = static_cast<std::int64_t>(i);
    }
    for (const Atom& a : program_.outputs)
      if (a.is_var()) ++readers_[a.var];
  }

  Fused run() {
    std::vector<bool> removed(program_.equations.size());
    for (std::size_t i = 0; i < removed.size(); ++i) {
      const std::int64_t product = product_added_by(i);
      if (product < 0) continue;
      merge(static_cast<std::size_t>(product), i);
      removed[static_cast<std::size_t>(product)] = true;
    }
    if (std::find(removed.begin(), removed.end(), true) == removed.end()) return std::move(steps_);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < removed.size(); ++i) {
      if (removed[i]) continue;
      if (kept != i) {
        program_.equations[kept] = std::move(program_.equations[i]);
        steps_.members[kept] = std::move(steps_.members[i]);
      }
      ++kept;
    }
    program_.equations.resize(kept);
    steps_.members.resize(kept);
    canonicalize(program_);
    return std::move(steps_);
  }

 private:
  /// The later one of the products that kernel i adds to something else and that it alone reads; -1 if there is none.
  std::int64_t product_added_by(std::size_t i) const {
    const Equation& e = program_.equations[i];
    if (e.prim != &loop_kernel || e.operands.size() != 2 || !e.operands[0].is_var() || !e.operands[1].is_var()) return -1;
    const Program& body = *e.as<CallAttr>().body;
    if (body.equations.size() != 1 || body.equations[0].prim != &prim::add) return -1;
    const Type& type = program_.type(e.results[0]);
    std::int64_t found = -1;
    for (std::size_t k = 0; k < 2; ++k) {
      const VarId v = e.operands[k].var, other = e.operands[1 - k].var;
      if (program_.type(v) != type || program_.type(other) != type || readers_[v] != 1 || maker_[v] < 0) continue;
      const Equation& product = program_.equations[static_cast<std::size_t>(maker_[v])];
      if (product.prim != &prim::dot_general && product.prim != &turned_product) continue;
      const bool reads_other = std::find(product.operands.begin(), product.operands.end(), Atom::variable(other)) != product.operands.end();
      if (!is_float(type.dtype) || !product.operands[0].is_var() || !product.operands[1].is_var() || reads_other) continue;
      if (product.operands[0] != product.operands[1]) found = std::max(found, maker_[v]);
    }
    return found;
  }

  void merge(std::size_t product, std::size_t add) {
    program_.equations[add] = added_product_equation(program_, static_cast<std::uint32_t>(product), static_cast<std::uint32_t>(add));
    auto& members = steps_.members[add];
    members.insert(members.end(), steps_.members[product].begin(), steps_.members[product].end());
    std::sort(members.begin(), members.end());
  }

  Fused steps_;
  Program& program_;
  std::vector<std::int64_t> maker_;  // by variable: its step, or -1
  std::vector<int> readers_;         // by variable
};

}  // namespace

Fused with_added_products(Fused steps) { return Adder(std::move(steps)).run(); }

}  // namespace anadrome
