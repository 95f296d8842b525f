// Mutants of rules.
#include "rules/mutate.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "anadrome/compile.h"
#include "primitives/op.h"
#include "rules/checks.h"

namespace anadrome::testing {
namespace {

/// The one mutation of the process: rules are plain functions and find it here.
struct State {
  Change change = Change::negate;
  long changes = 0;
  Rule<void(const EvalIn&)> eval;
  Rule<Arrays(const JvpIn&)> jvp;
  Rule<void(const TransposeIn&)> transpose;
  Rule<LinearizeOut(const JvpIn&)> linearize;
  Rule<BatchOut(const BatchIn&)> batch;
  Rule<Cost(const CostIn&)> cost;
} state;

Array wrong(const Array& a) {
  if (!a.defined()) return a;
  ++state.changes;
  if (is_bool(a.dtype())) return op::bit_not(a);
  if (is_integer(a.dtype())) return op::add(a, op::number_like(1, a));
  return state.change == Change::negate ? op::neg(a) : op::add(a, a);
}

Literal wrong(const Literal& v) {
  if (is_bool(v.dtype)) return Literal::of_integer(!v.as_integer(), v.dtype);
  if (is_integer(v.dtype)) return Literal::of_integer(v.as_integer() + 1, v.dtype);
  return Literal::of(v.as_double() * (state.change == Change::negate ? -1 : 2), v.dtype);
}

void wrong_eval(const EvalIn& in) {
  state.eval(in);
  for (std::size_t k = 0; k < in.out.size(); ++k)
    for (std::int64_t i = 0; i < in.out[k].elements(); ++i) {
      const DType dtype = in.out[k].dtype;
      void* at = static_cast<char*>(in.y[k]) + i * static_cast<std::int64_t>(item_size(dtype));
      const Literal right = Literal::load(dtype, at), other = wrong(right);
      state.changes += other.as_double() != right.as_double();
      other.store(at);
    }
}

Arrays wrong_jvp(const JvpIn& in) {
  Arrays t = state.jvp(in);
  const std::size_t first = in.eqn.prim->linearize ? in.out.size() : 0;  // call-like: results come first
  for (std::size_t i = first; i < t.size(); ++i) t[i] = wrong(t[i]);
  return t;
}

LinearizeOut wrong_linearize(const JvpIn& in) {
  LinearizeOut out = state.linearize(in);
  for (Array& t : out.t) t = wrong(t);
  return out;
}

/// Passes on wrong contributions.
class WrongAccumulator final : public Accumulator {
 public:
  WrongAccumulator(Accumulator* real, Type type) : real_(real), type_(std::move(type)) {}
  bool wants() const override { return real_->wants(); }
  void add(const Array& ct) override { real_->add(wrong(ct)); }
  void add_into(const std::function<Array(const Array&)>& update) override {
    if (wants()) real_->add(wrong(update(op::zeros(type_))));
  }
  Array so_far() const override { return op::zeros(type_); }
  void replace(const Array& sum) override { real_->add(wrong(sum)); }

 private:
  Accumulator* real_;
  Type type_;
};

void wrong_transpose(const TransposeIn& in) {
  std::vector<WrongAccumulator> store;
  for (std::size_t i = 0; i < in.acc.size(); ++i) store.emplace_back(in.acc[i], in.in[i]);
  std::vector<Accumulator*> acc;
  for (std::size_t i = 0; i < in.acc.size(); ++i) acc.push_back(in.acc[i] ? &store[i] : nullptr);
  state.transpose({in.eqn, in.in, in.out, in.x, in.ct, acc});
}

BatchOut wrong_batch(const BatchIn& in) {
  BatchOut out = state.batch(in);
  for (Array& y : out.y) y = wrong(y);
  return out;
}

Cost wrong_cost(const CostIn& in) {
  ++state.changes;
  const Cost c = state.cost(in);
  const double factor = state.change == Change::negate ? -1 : 2;
  return {factor * c.flops + 1, factor * c.transcendentals + 1};
}

/// Primitives are constants, in pages that the loader made read-only.
Prim& writable(const Prim& prim) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&prim) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(&prim + 1);
  if (mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0)
    throw std::system_error(errno, std::generic_category(), "mprotect");
  return const_cast<Prim&>(prim);
}

template <class R> void exchange(R& rule, R& original, R wrong_rule) {
  original = rule;
  rule = wrong_rule;
}

/// The checks, the one made for this kind of rule first.
std::vector<Check> checks_for(RuleKind kind) {
  constexpr Check first[] = {Check::value,  Check::jvp,  Check::linear,
                             Check::linear, Check::vmap, Check::cost};
  std::vector<Check> out(all_checks.begin(), all_checks.end());
  std::stable_partition(out.begin(), out.end(), [&](Check c) { return c == first[static_cast<int>(kind)]; });
  return out;
}

bool has_rule(const Prim& p, RuleKind kind) {
  switch (kind) {
    case RuleKind::eval:
      return static_cast<bool>(p.eval);
    case RuleKind::jvp:
      return static_cast<bool>(p.jvp);
    case RuleKind::transpose:
      return static_cast<bool>(p.transpose);
    case RuleKind::linearize:
      return static_cast<bool>(p.linearize);
    case RuleKind::batch:
      return static_cast<bool>(p.batch);
    case RuleKind::cost:
      return static_cast<bool>(p.cost);
  }
  return false;
}

const char* same_rule(const Row& row, RuleKind kind) {
  if (kind == RuleKind::cost) return nullptr;
  if (kind == RuleKind::eval) return row.silent_eval;
  return row.unreached ? row.unreached : kind == RuleKind::jvp ? row.silent_jvp : nullptr;
}

}  // namespace

std::string_view name(RuleKind kind) {
  constexpr std::string_view names[] = {"eval", "jvp", "transpose", "linearize", "batch", "cost"};
  return names[static_cast<std::size_t>(kind)];
}
std::string_view name(Change change) {
  return change == Change::negate ? "negate" : "twice";
}
std::string_view name(Verdict::Outcome outcome) {
  constexpr std::string_view names[] = {"killed", "equivalent", "survived"};
  return names[static_cast<std::size_t>(outcome)];
}
std::string Mutant::name() const {
  return std::string(row->prim->name) + "." + std::string(testing::name(kind)) + "." +
         std::string(testing::name(change));
}

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> out;
  for (const Row& row : table())
    for (RuleKind kind : {RuleKind::eval, RuleKind::jvp, RuleKind::transpose, RuleKind::linearize,
                          RuleKind::batch, RuleKind::cost})
      for (Change change : {Change::negate, Change::twice})
        if (has_rule(*row.prim, kind)) out.push_back({&row, kind, change});
  return out;
}

Mutation::Mutation(const Mutant& mutant) : mutant_(mutant) {
  Prim& p = writable(*mutant.row->prim);
  state.change = mutant.change;
  state.changes = 0;
  clear_program_cache();
  switch (mutant.kind) {
    case RuleKind::eval:
      exchange(p.eval, state.eval, {wrong_eval});
      break;
    case RuleKind::jvp:
      exchange(p.jvp, state.jvp, {wrong_jvp});
      break;
    case RuleKind::transpose:
      exchange(p.transpose, state.transpose, {wrong_transpose});
      break;
    case RuleKind::linearize:
      exchange(p.linearize, state.linearize, {wrong_linearize});
      break;
    case RuleKind::batch:
      exchange(p.batch, state.batch, {wrong_batch});
      break;
    case RuleKind::cost:
      exchange(p.cost, state.cost, {wrong_cost});
      break;
  }
}

Mutation::~Mutation() {
  Prim& p = const_cast<Prim&>(*mutant_.row->prim);
  switch (mutant_.kind) {
    case RuleKind::eval:
      p.eval = state.eval;
      break;
    case RuleKind::jvp:
      p.jvp = state.jvp;
      break;
    case RuleKind::transpose:
      p.transpose = state.transpose;
      break;
    case RuleKind::linearize:
      p.linearize = state.linearize;
      break;
    case RuleKind::batch:
      p.batch = state.batch;
      break;
    case RuleKind::cost:
      p.cost = state.cost;
      break;
  }
  clear_program_cache();
}

long Mutation::changes() {
  return state.changes;
}

Verdict try_mutant(const Mutant& mutant) {
  for (Check check : checks_for(mutant.kind))
    for (const Case& c : mutant.row->cases) {
      Failures failures;
      {
        const Mutation wrong_rule(mutant);
        failures = run_check(*mutant.row, c, check);
      }
      if (failures.empty() || !run_check(*mutant.row, c, check).empty()) continue;
      return {Verdict::Outcome::killed,
              std::string(name(check)) + ": " + failures[0].substr(0, failures[0].find('\n'))};
    }
  const char* why = same_rule(*mutant.row, mutant.kind);
  if (why && Mutation::changes() == 0) return {Verdict::Outcome::equivalent, why};
  return {Verdict::Outcome::survived, ""};
}

}  // namespace anadrome::testing
