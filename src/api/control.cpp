// Loops and conditionals on lists of arrays.
#include "anadrome/control.h"

#include <algorithm>
#include <limits>

#include "anadrome/ops/shape.h"
#include "api/captures.h"
#include "api/loops.h"
#include "api/operand.h"
#include "api/prepare.h"
#include "api/unrolled_scan.h"
#include "primitives/op.h"
#include "transforms/memo.h"

namespace anadrome::functional {
namespace {

/// `f`, which holds a loop, on `x`: recorded in the function being recorded, or run.
Arrays run_recorded_loop(const Function& f, const Arrays& x, const Context& context) {
  SetSource at_call(context.source);
  if (current_scope()) return f(x);
  const Prepared p = prepare(context, f, x, false);
  return apply(p.program, p.arguments(x), p.sources);
}

/// Throws where an output of a body has another type than the carry that it becomes.
void check_carries(const Program& body, const Arrays& init, const Context& context) {
  for (std::size_t k = 0; k < init.size(); ++k) {
    const Type got = body.type(body.outputs[k]), want = init[k].type();
    if (got == want) continue;
    throw TypeError(context.name + ": the carry changes its type: " + leaf_name(context, k) + " is " + to_string(want) +
                    " and the body returns " + to_string(got) + ". Begin with the type that the body returns, or convert in the body." +
                    at(context));
  }
}

std::int64_t length_of(const Arrays& xs, std::size_t first, const ScanOptions& options, const Context& context) {
  std::int64_t length = options.length;
  if (length < -1) throw TypeError(context.name + ": the number of steps is " + std::to_string(length) + "; it cannot be negative." + at(context));
  if (xs.empty() && length < 0)
    throw TypeError(context.name + ": there is no number of steps. Give arrays to read slice by slice, or the option .length." + at(context));
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::string name = leaf_name(context, first + i);
    if (xs[i].rank() == 0)
      throw TypeError(context.name + ": " + name + " is a single number " + to_string(xs[i].type()) +
                      "; what is read slice by slice needs an axis 0. Capture in the body what all steps read." + at(context));
    const std::int64_t n = xs[i].shape()[0];
    if (length >= 0 && n != length)
      throw TypeError(context.name + ": lengths differ: " + name + " has " + std::to_string(n) + " slices, " +
                      (i == 0 ? "the option .length is " : leaf_name(context, first) + " has ") + std::to_string(length) + "." + at(context));
    length = n;
  }
  return length;
}

Arrays joined(std::initializer_list<Arrays> lists) {
  Arrays out;
  for (const Arrays& l : lists) out.insert(out.end(), l.begin(), l.end());
  return out;
}

WhileAttr loop_of(const Recording& test, const Recording& step, std::int64_t max_steps) {
  return {{closed(test.program), test.program->sources},
          {closed(step.program), step.program->sources},
          static_cast<std::int64_t>(test.captures.size()),
          static_cast<std::int64_t>(step.captures.size()),
          max_steps};
}

}  // namespace

Arrays run_loop(const Prim& prim, const Arrays& operands, const Attrs& attrs, const Context& context) {
  SetSource at_call(context.source);
  if (current_scope()) return bind_all(prim, operands, attrs);
  Builder builder(context.name);
  Arrays x;
  for (const Array& a : operands) x.push_back(builder.input(a.type()));
  ProgramPtr program;
  {
    EnterScope scope({&builder});
    program = intern(ProgramPtr(builder.finish(builder.record(prim, x, attrs)).program));
  }
  static constexpr std::int64_t native = 1;
  auto executable = Memo::instance().get<Executable>(
      program, MemoKind::executable, {&native, 1}, [&] { return compile(program, {.backend = "native"}); },
      [](const Executable& e) { return 2 * program_bytes(e.optimized_program()) + 1024; });
  return executable->run(operands);
}

RecordedScan record_scan(const Function& body, const Arrays& init, const Arrays& xs, const ScanOptions& options, const Context& context) {
  std::vector<Type> types = checked_types(joined({init, xs}), context);
  const std::int64_t length = length_of(xs, init.size(), options, context);
  for (std::size_t i = init.size(); i < types.size(); ++i) types[i].shape.erase(0);
  const Recording r = record(context.name, body, types);
  check_carries(*r.program, init, context);
  const ScanAttr attr{{closed(r.program), r.program->sources}, length, static_cast<std::int64_t>(r.captures.size()),
                      static_cast<std::int64_t>(init.size()), options.reverse};
  return {attr, joined({r.captures, init, xs})};
}

Arrays scan(const Function& body, const Arrays& init, const Arrays& xs, const ScanOptions& options, const Context& context) {
  if (options.unroll < 1)
    throw TypeError(context.name + ": .unroll is " + std::to_string(options.unroll) + "; the body is written out at least once." + at(context));
  const RecordedScan loop = record_scan(body, init, xs, options, context);
  if (options.unroll == 1) return run_loop(prim::scan, loop.operands, loop.attr, context);
  return run_recorded_loop([&](const Arrays& x) { return unrolled_scan(loop.attr, x, options.unroll); }, loop.operands, context);
}

Array counted(std::int64_t n, const Context& context) {
  if (n < 0) throw TypeError(context.name + ": the number of steps is " + std::to_string(n) + "; it cannot be negative." + at(context));
  return counters(0, n, context);
}

Array counters(std::int64_t lo, std::int64_t hi, const Context& context) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (lo < -most || hi > most)
    throw TypeError(context.name + ": the bounds " + std::to_string(lo) + " and " + std::to_string(hi) + " do not fit i32." + at(context));
  return anadrome::arange(lo, std::max(lo, hi));
}

std::pair<Array, Array> counter_bounds(const Operand& lo, const Operand& hi, const Context& context) {
  SetSource at_call(context.source);
  const DType dtype = common_dtype({&lo, &hi}, context.name);
  const std::pair<Array, Array> bounds{as_dtype(lo, dtype, context.name), as_dtype(hi, dtype, context.name)};
  for (const Array& bound : {bounds.first, bounds.second})
    if (bound.rank() != 0 || !is_integer(dtype))
      throw TypeError(context.name + ": a bound is " + to_string(bound.type()) +
                      "; both must be single integers. Convert it, or take one element." + at(context));
  return bounds;
}

Arrays cond(const Array& index, const std::vector<Function>& branches, const Arrays& operands, const Context& context) {
  check_values({index}, {context.name, context.source, [](std::size_t) { return std::string("the predicate or index"); }});
  if (index.rank() != 0 || is_float(index.dtype()) || is_complex(index.dtype()))
    throw TypeError(context.name + ": the predicate or index is " + to_string(index.type()) +
                    "; it must be a single bool or integer. Use where() to choose element by element." + at(context));
  const std::vector<Type> types = checked_types(operands, context);
  std::vector<Recording> recorded;
  for (const Function& f : branches) recorded.push_back(record(context.name, f, types));
  const std::vector<Type> want = recorded[0].program->output_types();
  for (std::size_t b = 0; b < recorded.size(); ++b) {
    const std::vector<Type> got = recorded[b].program->output_types();
    for (std::size_t k = 0; k < std::max(got.size(), want.size()); ++k) {
      if (k < got.size() && k < want.size() && got[k] == want[k]) continue;
      const auto text = [&](const std::vector<Type>& list) { return k < list.size() ? to_string(list[k]) : std::string("missing"); };
      throw TypeError(context.name + ": branches differ: result " + std::to_string(k) + " is " + text(want) + " in branch 0 and " + text(got) +
                      " in branch " + std::to_string(b) + (context.name == "cond" ? " (branch 0 is taken where the predicate is false)" : "") +
                      ". Convert, or reshape, in one of them." + at(context));
    }
  }
  const SharedCaptures shared = with_shared_captures(recorded);
  return run_loop(prim::cond, joined({{op::convert(index, DType::i32)}, shared.captures, operands}), CondAttr{shared.programs}, context);
}

namespace {

/// Throws TypeError for a condition that gives no single bool.
void check_condition(const Arrays& given, const Context& context) {
  if (given.size() != 1 || given[0].type() != Type{DType::b1, {}, false})
    throw TypeError(context.name + ": the condition returns " + (given.empty() ? "nothing" : to_string(given[0].type())) +
                    "; it must be a single bool. Reduce it with all() or any()." + at(context));
}
Function checked_condition(const Function& condition, const Context& context) {
  return [&](const Arrays& x) {
    Arrays given = condition(x);
    check_condition(given, context);
    return given;
  };
}

Arrays bounded_while(const Function& condition, const Function& body, const Arrays& init, std::int64_t max_steps, const Context& context);

}  // namespace

Arrays while_loop(const Function& condition, const Function& body, const Arrays& init, const WhileOptions& options, const Context& context) {
  if (options.max_steps != -1) return bounded_while(condition, body, init, options.max_steps, context);
  const std::vector<Type> types = checked_types(init, context);
  const Recording test = record(context.name, checked_condition(condition, context), types), step = record(context.name, body, types);
  check_carries(*step.program, init, context);
  return run_loop(prim::while_loop, joined({test.captures, step.captures, init}), loop_of(test, step, -1), context);
}

namespace {

/// The loop with a counter behind its carries. What comes out is required to have come to an end.
Arrays bounded_while(const Function& condition, const Function& body, const Arrays& init, std::int64_t max_steps, const Context& context) {
  if (max_steps < 0 || max_steps > std::numeric_limits<std::int32_t>::max())
    throw TypeError(context.name + ": .max_steps is " + std::to_string(max_steps) + "; it must be a number of steps that an i32 holds." + at(context));
  std::vector<Type> types = checked_types(init, context);
  types.push_back({DType::i32, {}, false});
  const auto values = [](const Arrays& x) { return Arrays(x.begin(), x.end() - 1); };
  const auto goes_on = [&](const Arrays& x) {
    return Arrays{op::bit_and(checked_condition(condition, context)(values(x))[0], op::lt(x.back(), op::number(static_cast<double>(max_steps), DType::i32)))};
  };
  const auto count = [&](const Arrays& x) {
    Arrays y = body(values(x));
    y.push_back(op::add(x.back(), op::number(1, DType::i32)));
    return y;
  };
  const Function checked = [&](const Arrays& x) {
    Arrays start = x;
    start.push_back(op::zeros(types.back()));
    const Recording test = record(context.name, goes_on, types), step = record(context.name, count, types);
    check_carries(*step.program, start, context);
    Arrays y = bind_all(prim::while_loop, joined({test.captures, step.captures, start}), loop_of(test, step, max_steps));
    y.back() = op::number(-1, DType::i32);  // the condition alone, whatever the count
    const Array goes_on_after = inline_program(*test.program, test.captures, y)[0];
    y.pop_back();
    for (Array& value : y)
      value = op::require(goes_on_after, value, context.name + ": the condition still holds after .max_steps = " + std::to_string(max_steps) +
                                            " steps. Allow more, or let the loop end." + at(context));
    return y;
  };
  return run_recorded_loop(checked, init, context);
}

}  // namespace

}  // namespace anadrome::functional
