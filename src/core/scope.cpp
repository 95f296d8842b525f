// The thread's stack of scopes, and the user's line for what is recorded.
#include <cstring>

#include "core/builder.h"
#include "core/eval.h"

namespace anadrome {
namespace {

thread_local std::vector<Scope> scopes;
thread_local std::source_location source_now;
thread_local bool source_known = false;

}  // namespace

EnterScope::EnterScope(Scope scope) { scopes.push_back(scope); }
EnterScope::~EnterScope() { scopes.pop_back(); }
const Scope* current_scope() { return scopes.empty() ? nullptr : &scopes.back(); }
LeaveScopes::LeaveScopes() { saved_.swap(scopes); }
LeaveScopes::~LeaveScopes() { saved_.swap(scopes); }

AtSource::AtSource(const std::source_location& source) : outermost_(!source_known) {
  if (!outermost_) return;
  source_now = source;
  source_known = true;
}
AtSource::~AtSource() {
  if (outermost_) source_known = false;
}
SetSource::SetSource(const std::source_location& source) : saved_(source_now), was_known_(source_known) {
  source_now = source;
  source_known = true;
}
SetSource::~SetSource() {
  source_now = saved_;
  source_known = was_known_;
}
std::source_location current_source() { return source_known ? source_now : std::source_location(); }

std::string at_source(const std::source_location& source) {
  const char* file = source.file_name();
  if (!file || !*file || source.line() == 0) return "";
  return " at " + std::string(file) + ":" + std::to_string(source.line());
}
std::string at_current_source() { return at_source(current_source()); }

namespace {

/// The builder that an operation on these operands belongs to.
Builder& target(const Scope& scope, std::span<const Array> operands) {
  if (scope.tangent)
    for (const Array& x : operands)
      if (scope.tangent->owns(x)) return *scope.tangent;
  return *scope.primal;
}

}  // namespace

Arrays bind_all(const Prim& prim, std::span<const Array> operands, const Attrs& attrs) {
  const Scope* scope = current_scope();
  if (!scope) return evaluate(prim, attrs, operands);
  return target(*scope, operands).record(prim, operands, attrs);
}

Array bind1(const Prim& prim, std::span<const Array> operands, const Attrs& attrs) {
  const Scope* scope = current_scope();
  if (!scope) return std::move(evaluate(prim, attrs, operands)[0]);
  return target(*scope, operands).record1(prim, operands, attrs);
}

Arrays inline_program(const Program& program, std::span<const Array> captures, std::span<const Array> inputs,
                      const SourceTable* sources) {
  Arrays value(program.types.size());
  for (std::size_t i = 0; i < captures.size(); ++i) value[program.captures[i]] = captures[i];
  for (std::size_t i = 0; i < inputs.size(); ++i) value[program.inputs[i]] = inputs[i];
  auto get = [&](const Atom& a) { return a.is_var() ? value[a.var] : literal(a.literal); };
  RegionMap regions;
  Arrays operands;
  for (const Equation& e : program.equations) {
    operands.clear();
    for (const Atom& a : e.operands) operands.push_back(get(a));
    AtRegion region(regions, e.region);
    std::optional<SetSource> at;
    if (sources && e.origin < sources->size()) at.emplace((*sources)[e.origin]);
    Arrays results = bind_all(*e.prim, operands, e.attrs);
    for (std::size_t i = 0; i < results.size(); ++i) value[e.results[i]] = std::move(results[i]);
  }
  Arrays out;
  for (const Atom& a : program.outputs) out.push_back(get(a));
  return out;
}

AtRegion::AtRegion(RegionMap& regions, std::uint32_t region) {
  const Scope* scope = current_scope();
  if (!scope || region == 0) return;
  auto [it, fresh] = regions.try_emplace(region, 0);
  if (fresh) it->second = fresh_region();
  builders_ = {scope->primal, scope->tangent};
  for (int i = 0; i < 2; ++i)
    if (builders_[i]) saved_[i] = std::exchange(builders_[i]->region, it->second);
}
AtRegion::~AtRegion() {
  for (int i = 0; i < 2; ++i)
    if (builders_[i]) builders_[i]->region = saved_[i];
}
std::uint32_t fresh_region() {
  thread_local std::uint32_t next = 0;
  return next = next == ~0u ? 1 : next + 1;
}

}  // namespace anadrome
