#include "optimize/row_blocks.h"

#include <algorithm>

#include "optimize/row_kinds.h"

namespace anadrome {
namespace {

/// The programs of a region for blocks of `size` rows.
class Shrinker {
 public:
  Shrinker(const RowKinds& kinds, std::int64_t size) : kinds_(kinds), size_(size) {}

  Type type(const RowScope& scope, VarId v) const {
    Type out = scope.program->type(v);
    if (const int k = kinds_.axis(scope, v); k >= 0) out.shape[k] = size_;
    return out;
  }
  /// The attributes of an equation, which hold shapes here and there.
  Attrs attrs(const RowScope& scope, std::size_t equation) const {
    const Equation& e = scope.program->equations[equation];
    const Shape shape = type(scope, e.results[0]).shape;
    if (e.prim == &prim::broadcast_in_dim) return BroadcastAttr{shape, e.as<BroadcastAttr>().dims};
    if (e.prim == &prim::reshape) return ShapeAttr{shape};
    if (e.prim == &prim::iota) return IotaAttr{e.as<IotaAttr>().dtype, shape, e.as<IotaAttr>().axis};
    if (e.prim == &prim::slice) {
      SliceAttr a = e.as<SliceAttr>();
      if (const int k = kinds_.axis(scope, e.results[0]); k >= 0) a.limit[k] = size_;
      return a;
    }
    if (e.prim != &prim::scan) return e.attrs;
    ScanAttr a = e.as<ScanAttr>();
    a.body.program = intern(shrunk(*scope.bodies[equation]));
    return a;
  }

 private:
  Program shrunk(const RowScope& scope) const {
    Program out = *scope.program;
    for (VarId v = 0; v < out.types.size(); ++v) out.types[v] = type(scope, v);
    for (std::size_t i = 0; i < out.equations.size(); ++i) out.equations[i].attrs = attrs(scope, i);
    return out;
  }

  const RowKinds& kinds_;
  std::int64_t size_;
};

/// What goes into the blocks of a program and what comes out.
class Region {
 public:
  Region(const RowScope& scope, const RowKinds& kinds) : scope_(scope), p_(*scope.program), kinds_(kinds), inside_(p_.equations.size(), 0) {
    std::vector<char> made(p_.types.size(), 0);
    for (std::size_t i = 0; i < inside_.size(); ++i) {
      inside_[i] = kinds.works_on_rows(scope, i) && !is_after(p_.equations[i]);
      if (inside_[i])
        for (VarId v : p_.equations[i].results) made[v] = 1;
    }
    for (std::size_t i = 0; i < inside_.size(); ++i)
      if (inside_[i]) add_operands(p_.equations[i], made);
    std::vector<char> read(p_.types.size(), 0);
    const auto note = [&](const Atom& a) {
      if (a.is_var() && made[a.var] && !read[a.var]) read[a.var] = 1, add_output(a.var);
    };
    for (std::size_t i = 0; i < inside_.size(); ++i)
      if (!inside_[i])
        for (const Atom& a : p_.equations[i].operands) note(a);
    for (const Atom& a : p_.outputs) note(a);
  }

  /// Sums are of a float dtype that loses nothing by adding up, and nothing leaves but them and rows.
  bool fits() const { return fits_; }
  bool inside(std::size_t equation) const { return inside_[equation] != 0; }
  bool is_after(const Equation& e) const {
    return std::any_of(e.results.begin(), e.results.end(), [&](VarId v) { return kinds_.kind(scope_, v) == RowKind::after; });
  }
  const std::vector<VarId>& plain() const { return plain_; }
  const std::vector<VarId>& rows_in() const { return rows_in_; }
  const std::vector<VarId>& rows_out() const { return rows_out_; }
  const std::vector<VarId>& sums() const { return sums_; }
  /// What a sum begins with: the operand of the scan that adds to it, or nothing.
  std::optional<Atom> start(VarId sum) const {
    for (std::size_t i = 0; i < inside_.size(); ++i) {
      const Equation& e = p_.equations[i];
      if (!scope_.bodies[i]) continue;
      const auto found = std::find(e.results.begin(), e.results.end(), sum);
      const auto k = found - e.results.begin();
      if (found != e.results.end() && k < e.as<ScanAttr>().carries) return e.operands[static_cast<std::size_t>(e.as<ScanAttr>().consts + k)];
    }
    return std::nullopt;
  }
  /// True for the operand that starts a sum, which the blocks take from the one before.
  bool starts_sum(std::size_t equation, std::size_t operand) const {
    if (!scope_.bodies[equation]) return false;
    const Equation& e = p_.equations[equation];
    const ScanAttr& a = e.as<ScanAttr>();
    const auto first = static_cast<std::size_t>(a.consts);
    return operand >= first && operand < first + static_cast<std::size_t>(a.carries) && kinds_.kind(scope_, e.results[operand - first]) == RowKind::sum;
  }

 private:
  void add_operands(const Equation& e, const std::vector<char>& made) {
    const auto equation = static_cast<std::size_t>(&e - p_.equations.data());
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
      const Atom& a = e.operands[i];
      if (!a.is_var() || made[a.var] || starts_sum(equation, i)) continue;
      auto& list = kinds_.kind(scope_, a.var) == RowKind::row ? rows_in_ : plain_;
      if (std::find(list.begin(), list.end(), a.var) == list.end()) list.push_back(a.var);
    }
    // A sum that nobody reads is added to all the same.
    for (VarId v : e.results)
      if (kinds_.kind(scope_, v) == RowKind::sum) add_output(v);
  }
  void add_output(VarId v) {
    if (std::find(sums_.begin(), sums_.end(), v) != sums_.end()) return;
    switch (kinds_.kind(scope_, v)) {
      case RowKind::row:
        rows_out_.push_back(v);
        break;
      case RowKind::sum:
        sums_.push_back(v);
        fits_ &= p_.type(v).dtype == DType::f32 || p_.type(v).dtype == DType::f64;
        break;
      default: fits_ = false;
    }
  }

  const RowScope& scope_;
  const Program& p_;
  const RowKinds& kinds_;
  std::vector<char> inside_;
  std::vector<VarId> plain_, rows_in_, rows_out_, sums_;
  bool fits_ = true;
};

/// The program with its region as one equation.
class Blocked {
 public:
  Blocked(const RowScope& scope, const RowKinds& kinds, const Region& region, std::int64_t rows, std::int64_t size)
      : scope_(scope), p_(*scope.program), kinds_(kinds), region_(region), rows_(rows), size_(size), shrinker_(kinds, size), to_(p_) {}

  Program run() {
    for (std::size_t i = 0; i < p_.equations.size(); ++i)
      if (!region_.inside(i) && !region_.is_after(p_.equations[i])) to_.copy(p_.equations[i]);
    emit_blocks();
    for (std::size_t i = 0; i < p_.equations.size(); ++i)
      if (!region_.inside(i) && region_.is_after(p_.equations[i])) to_.copy(p_.equations[i]);
    return to_.finish();
  }

 private:
  /// The axis of the rows, in two: of blocks, and of the rows of each.
  Shape split(VarId v) const {
    Shape out = p_.type(v).shape;
    const auto k = static_cast<std::size_t>(kinds_.axis(scope_, v));
    out[k] = size_;
    out.insert(k, rows_ / size_);
    return out;
  }
  /// The permutation that takes the axis of the blocks to the front, or back from there.
  Ints to_front(VarId v, bool back) const {
    const int k = kinds_.axis(scope_, v);
    Ints out;
    for (int i = 0; i <= p_.type(v).rank(); ++i) out.push_back(back ? (i < k ? i + 1 : i == k ? 0 : i) : i == 0 ? k : i <= k ? i - 1 : i);
    return out;
  }
  Type in_blocks(VarId v) const {
    Type out = shrinker_.type(scope_, v);
    out.shape.insert(0, rows_ / size_);
    return out;
  }

  void emit_blocks() {
    Equation e;
    e.prim = &row_blocks;
    e.attrs = ScanAttr{{body(), nullptr}, rows_ / size_, static_cast<std::int64_t>(region_.plain().size()),
                       static_cast<std::int64_t>(region_.sums().size()), false};
    for (VarId v : region_.plain()) e.operands.push_back(to_[Atom::variable(v)]);
    for (VarId v : region_.sums()) {
      const Type type = p_.type(v);
      const auto start = region_.start(v);
      e.operands.push_back(start ? to_[*start] : to_.broadcast(Atom::number(Literal::of(0, type.dtype)), type.shape, {}));
    }
    for (VarId v : region_.rows_in()) e.operands.push_back(to_.transpose(to_.reshape(to_[Atom::variable(v)], split(v)), to_front(v, false)));
    std::vector<Type> types;
    for (VarId v : region_.sums()) types.push_back(p_.type(v));
    for (VarId v : region_.rows_out()) types.push_back(in_blocks(v));
    const std::vector<Atom> results = to_.emit_all(std::move(e), types);
    std::size_t next = 0;
    for (VarId v : region_.sums()) to_.replace(v, results[next++]);
    for (VarId v : region_.rows_out()) to_.replace(v, to_.reshape(to_.transpose(results[next++], to_front(v, true)), p_.type(v).shape));
  }

  /// One block: plain values, sums so far, rows, to the sums and rows.
  ProgramPtr body() {
    Program out;
    std::vector<VarId> name(p_.types.size(), Atom::no_var), so_far(p_.types.size(), Atom::no_var);
    const auto add = [&](Type type) {
      out.types.push_back(std::move(type));
      return static_cast<VarId>(out.types.size() - 1);
    };
    for (VarId v : region_.plain()) out.inputs.push_back(name[v] = add(p_.type(v)));
    for (VarId v : region_.sums()) out.inputs.push_back(so_far[v] = add(p_.type(v)));
    for (VarId v : region_.rows_in()) out.inputs.push_back(name[v] = add(shrinker_.type(scope_, v)));
    for (std::size_t i = 0; i < p_.equations.size(); ++i) {
      if (!region_.inside(i)) continue;
      Equation e = p_.equations[i];
      e.attrs = shrinker_.attrs(scope_, i);
      for (std::size_t k = 0; k < e.operands.size(); ++k) {
        Atom& a = e.operands[k];
        if (region_.starts_sum(i, k)) a = Atom::variable(so_far[e.results[k - static_cast<std::size_t>(e.as<ScanAttr>().consts)]]);
        else if (a.is_var()) a.var = name[a.var];
      }
      std::vector<VarId> added;  // sums that the equation does not add to what there is
      for (std::size_t k = 0; k < e.results.size(); ++k) {
        const VarId v = p_.equations[i].results[k];
        e.results[k] = name[v] = add(shrinker_.type(scope_, v));
        if (kinds_.kind(scope_, v) == RowKind::sum && !region_.start(v)) added.push_back(v);
      }
      out.equations.push_back(e);
      for (VarId v : added) {
        const VarId total = add(p_.type(v));
        out.equations.push_back({&prim::add, {}, {Atom::variable(so_far[v]), Atom::variable(name[v])}, {total}, e.region, e.origin});
        name[v] = total;
      }
    }
    for (VarId v : region_.sums()) out.outputs.push_back(Atom::variable(name[v]));
    for (VarId v : region_.rows_out()) out.outputs.push_back(Atom::variable(name[v]));
    return intern(std::move(out));
  }

  const RowScope& scope_;
  const Program& p_;
  const RowKinds& kinds_;
  const Region& region_;
  std::int64_t rows_, size_;
  Shrinker shrinker_;
  Rewriter to_;
};

// ---- whether it is worth it

constexpr double long_work = 1e8;  // operations of products in loops

double product_work(const Program& p) {
  double out = 0;
  for (const Equation& e : p.equations) {
    if (e.prim == &prim::scan) out += static_cast<double>(e.as<ScanAttr>().length) * product_work(*e.as<ScanAttr>().body);
    if (e.prim != &prim::dot_general) continue;
    double n = 2 * static_cast<double>(p.type(e.results[0]).elements());
    for (std::int64_t k : e.as<DotAttr>().contract_lhs) n *= static_cast<double>(p.type(e.operands[0]).shape[k]);
    out += n;
  }
  return out;
}
/// Operations of products in the loops that work on rows.
double work_on_rows(const RowScope& scope, const RowKinds& kinds) {
  double out = 0;
  for (std::size_t i = 0; i < scope.program->equations.size(); ++i) {
    if (!scope.bodies[i] || !kinds.works_on_rows(scope, i)) continue;
    const ScanAttr& a = scope.program->equations[i].as<ScanAttr>();
    out += static_cast<double>(a.length) * product_work(*a.body);
  }
  return out;
}

/// Rows of a block: a number that divides them all and gives every thread as many blocks as the others. 0 where there is none.
/// Products of more rows are a little faster, and take as much more memory.
std::int64_t block_rows(std::int64_t rows, int threads) {
  for (std::int64_t n : {32, 16})
    if (rows % n == 0 && (rows / n) % threads == 0 && rows / n > 1) return n;
  return 0;
}

/// The program with what its loops call written into their bodies.
Program with_optimized_bodies(const Program& program, const OptimizeOptions& options) {
  Program out = program;
  for (Equation& e : out.equations) {
    if (e.prim != &prim::scan) continue;
    ScanAttr a = e.as<ScanAttr>();
    a.body.program = intern(with_optimized_bodies(optimize(*a.body, options), options));
    e.attrs = a;
  }
  return out;
}

}  // namespace

Program with_row_blocks(const Program& given, const OptimizeOptions& options, int threads) {
  const bool loops = std::any_of(given.equations.begin(), given.equations.end(), [](const Equation& e) { return e.prim == &prim::scan; });
  if (!loops) return given;
  const Program program = with_optimized_bodies(given, options);
  if (product_work(program) < long_work) return given;
  const RowAxes axes(program);
  const RowScope& scope = axes.root();
  std::vector<int> tried;
  for (std::size_t i = 0; i < program.equations.size(); ++i) {
    if (!scope.bodies[i]) continue;
    const Equation& e = program.equations[i];
    for (std::size_t k = 0; k < static_cast<std::size_t>(e.as<ScanAttr>().carries); ++k) {
      if (program.type(e.results[k]).rank() < 2) continue;
      const int rows = axes.class_of(scope, e.results[k], 0);
      if (std::find(tried.begin(), tried.end(), rows) != tried.end()) continue;
      tried.push_back(rows);
      const auto kinds = RowKinds::of(axes, rows);
      if (!kinds) continue;
      const std::int64_t n = program.type(e.results[k]).shape[0], block = block_rows(n, threads);
      if (block == 0 || work_on_rows(scope, *kinds) < long_work) continue;
      const Region region(scope, *kinds);
      if (region.fits()) return Blocked(scope, *kinds, region, n, block).run();
    }
  }
  return given;
}

constinit const Prim row_blocks = {
    .name = "row_blocks",
    .work = Work::call,
    .type = [](const TypeIn& in) -> Types { return prim::scan.type(in); },
    .eval = [](const EvalIn& in) { prim::scan.eval(in); },
    .jvp = no_rule("blocks are made after all transforms"),
    .transpose = no_rule("blocks are made after all transforms"),
    .batch = no_rule("blocks are made after all transforms"),
    .cost = [](const CostIn& in) -> Cost { return prim::scan.cost(in); }};

}  // namespace anadrome
