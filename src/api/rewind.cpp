// invert and reversible_scan on lists of arrays.
#include "anadrome/rewind.h"

#include "api/loops.h"
#include "api/prepare.h"
#include "primitives/op.h"
#include "transforms/invert.h"
#include "transforms/reversible_scan.h"

namespace anadrome::functional {

std::function<Arrays(const Arrays&)> invert(const Function& f, const Arrays& x, const Mask& wanted, const Context& context) {
  std::vector<Type> types;
  Arrays known;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x[i].defined()) checked_types(x, context);
    types.push_back(x[i].type());
    if (!wanted[i]) check_values({x[i]}, context), known.push_back(x[i]);
  }
  const Prepared p = prepare_types(context, f, types, {});
  known.insert(known.begin(), p.leading.begin(), p.leading.end());
  SetSource at_call(context.source);
  const auto inverse = invert_program({p.program, p.sources}, p.argument_mask(wanted), anadrome::Mask(p.program->outputs.size(), 1), context.name);
  const std::vector<Type> want = p.program->output_types();
  return [inverse, known, want, sources = p.sources, context](const Arrays& y) {
    const std::vector<Type> got = checked_types(y, {context.name, context.source, [](std::size_t i) { return "result " + std::to_string(i); }});
    Arrays arguments = known;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (i >= got.size() || got[i] != want[i])
        throw TypeError(context.name + ": result " + std::to_string(i) + " is " + (i < got.size() ? to_string(got[i]) : "missing") +
                        "; the function gives " + to_string(want[i]) + "." + at(context));
      arguments.push_back(y[i]);
    }
    return apply(inverse->program, arguments, inverse->program->sources);
  };
}

Arrays reversible_scan(const Function& body, const Arrays& init, const Arrays& xs, const ReversibleScanOptions& options, const Context& context) {
  if (options.anchors.count < Anchors::automatic)
    throw TypeError(context.name + ": .anchors is " + std::to_string(options.anchors.count) + "; give the number of states to keep, or none." + at(context));
  if (!(options.tolerance > 0))
    throw TypeError(context.name + ": .tolerance is " + std::to_string(options.tolerance) + "; give a relative error above 0." + at(context));
  const RecordedScan loop = record_scan(body, init, xs, {options.length, options.reverse}, context);
  std::vector<Type> types;
  for (const Array& x : loop.operands) types.push_back(x.type());
  const SubProgram program = loop_program(loop.attr, types);
  {
    SetSource at_call(context.source);
    inverse_body(ScanParts(loop_of(program)), context.name);
  }
  return run_loop(prim::reversible_scan, loop.operands, ReversibleScanAttr{program, options.anchors.count, {options.tolerance}}, context);
}

}  // namespace anadrome::functional
