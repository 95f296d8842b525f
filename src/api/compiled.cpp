// Recording for jit, calls inside other functions, and running compiled programs.
#include <algorithm>

#include "api/prepare.h"
#include "optimize/cost.h"
#include "primitives/op.h"

namespace anadrome::functional {

Program make_program(const Function& f, const Arrays& x, const Context& context) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!x[i].defined()) checked_types(x, context);
  std::vector<Type> types;
  for (const Array& a : x) types.push_back(a.type());
  return std::move(*record(context.name, f, types).program);
}

void check_leaves(const Arrays& leaves, const Context& context) { check_values(leaves, context); }

bool recording() { return current_scope() != nullptr; }

Recorded record_for_jit(const Function& f, const Arrays& x, const Context& context) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!x[i].defined()) checked_types(x, context);
  std::vector<Type> types;
  for (const Array& a : x) types.push_back(a.type());
  Recording r = record(context.name, f, types);
  Recorded out{r.program, std::move(r.captures), true, {}};
  for (const Array& c : out.captures) out.reusable &= !is_variable(c);
  return out;
}

Arrays call_recorded(const Recorded& recorded, const Arrays& x, const std::string& name) {
  Arrays operands = recorded.captures;
  operands.insert(operands.end(), x.begin(), x.end());
  return op::call({name, {closed(recorded.program), recorded.program->sources}}, operands);
}

std::shared_ptr<const Executable> compile_recorded(const Recorded& recorded, const CompileOptions& options,
                                                   const Mask& donated) {
  const std::size_t captures = recorded.captures.size();
  auto flags = std::make_unique<bool[]>(captures + donated.size());
  for (std::size_t i = 0; i < donated.size(); ++i) flags[captures + i] = donated[i];
  return compile(closed(recorded.program), options, {flags.get(), captures + donated.size()});
}

namespace {

/// Whether a run reads argument i in another place too; then its memory was not touched.
bool read_elsewhere(const Recorded& recorded, const Arrays& x, std::size_t i) {
  const auto same = [&](const Array& a) { return a.node() == x[i].node(); };
  for (std::size_t j = 0; j < x.size(); ++j)
    if (!recorded.donated[j] && same(x[j])) return true;
  return std::any_of(recorded.captures.begin(), recorded.captures.end(), same);
}

void give_up_donated(const Recorded& recorded, const Arrays& x, const std::source_location& source) {
  Arrays given;
  for (std::size_t i = 0; i < recorded.donated.size(); ++i)
    if (recorded.donated[i] && is_concrete(x[i]) && !read_elsewhere(recorded, x, i)) given.push_back(x[i]);
  for (const Array& a : given) give_up(a, source);
}

}  // namespace

Arrays run_recorded(const Recorded& recorded, const Executable& executable, const Arrays& x, const Context& context) {
  const std::vector<Type> given = checked_types(x, context);
  const std::vector<Type> want = recorded.program->input_types();
  for (std::size_t i = 0; i < want.size(); ++i)
    if (i >= given.size() || given[i] != want[i])
      throw TypeError(context.name + ": " + leaf_name(context, i) + " was compiled as " + to_string(want[i]) +
                      " and is " + (i < given.size() ? to_string(given[i]) : "missing") +
                      ". Lower the function again for other types." + at(context));
  Arrays arguments = recorded.captures;
  for (const Array& a : x) {
    if (is_variable(a))
      throw TraceError(context.name + ": a compiled function runs on numbers, but " + to_string(a.type()) +
                       " is a value being recorded. Call the jitted function instead of its compiled form." +
                       at(context));
    arguments.push_back(a);
  }
  Arrays y = executable.run(arguments);
  give_up_donated(recorded, x, context.source);
  return y;
}

void run_accepted(const Entry& entry, std::span<const Array* const> leaves, std::span<Array* const> results,
                  const std::source_location& source) {
  const Arrays& captures = entry.recorded.captures;
  if (captures.empty()) {
    entry.executable->run_into(leaves, results);
  } else {
    boost::container::small_vector<const Array*, 32> arguments;
    for (const Array& c : captures) arguments.push_back(&c);
    arguments.insert(arguments.end(), leaves.begin(), leaves.end());
    entry.executable->run_into({arguments.data(), arguments.size()}, results);
  }
  if (!entry.gives_up) return;
  Arrays x;
  for (const Array* leaf : leaves) x.push_back(*leaf);
  give_up_donated(entry.recorded, x, source);
}

CostAnalysis cost_of(const Program& program) { return program_cost(program); }

Arrays run_jit(const Function& f, const Arrays& x, const std::string& backend) {
  const Context context{"jit", {}, {}};
  const Recorded recorded = record_for_jit(f, x, context);
  CompileOptions options;
  options.backend = backend;
  return run_recorded(recorded, *compile_recorded(recorded, options, Mask(x.size(), false)), x, context);
}

}  // namespace anadrome::functional
