// vmap: primitive by primitive.
#include "transforms/vmap.h"

#include "primitives/op.h"
#include "transforms/memo.h"

namespace anadrome {

Array batch_axis_at(const Array& x, int axis, std::int64_t size, int to) {
  return axis == unbatched ? op::broadcast_axis(x, to, size) : op::move_axis(x, axis, to);
}

namespace {

class Vmap {
 public:
  Vmap(const Program& p, std::int64_t size, std::string_view axis_name)
      : p_(p), size_(size), axis_name_(axis_name), value_(p.types.size()), axis_(p.types.size(), unbatched) {}

  Arrays run(const Arrays& x, const std::vector<int>& axis, std::vector<int>& out_axis) {
    const std::vector<VarId> args = arguments(p_);
    for (std::size_t i = 0; i < args.size(); ++i) {
      value_[args[i]] = x[i];
      axis_[args[i]] = axis[i];
    }
    RegionMap regions;
    for (const Equation& e : p_.equations) {
      AtEquation at(p_, e, regions);
      step(e);
    }
    Arrays out;
    for (const Atom& a : p_.outputs) {
      out.push_back(a.is_var() ? value_[a.var] : literal(a.literal));
      out_axis.push_back(a.is_var() ? axis_[a.var] : unbatched);
    }
    return out;
  }

 private:
  bool names_axis(const Equation& e) const {
    if (axis_name_.empty() || !e.attrs.box()) return false;
    if (const auto* collective = std::get_if<CollectiveAttr>(&e.attrs.box()->value))
      return collective->axis_name == axis_name_;
    return e.prim->work == Work::call;
  }

  void step(const Equation& e) {
    Arrays x;
    std::vector<int> axis;
    bool any = names_axis(e);
    for (const Atom& a : e.operands) {
      x.push_back(a.is_var() ? value_[a.var] : literal(a.literal));
      axis.push_back(a.is_var() ? axis_[a.var] : unbatched);
      any |= axis.back() != unbatched;
    }
    if (!any) {
      const Arrays y = bind_all(*e.prim, x, e.attrs);
      for (std::size_t i = 0; i < y.size(); ++i) value_[e.results[i]] = y[i];
      return;
    }
    const BatchOut out = need<&Prim::batch>(*e.prim)({e, x, axis, size_, axis_name_});
    for (std::size_t i = 0; i < out.y.size(); ++i) {
      check(e, i, out);
      value_[e.results[i]] = out.y[i];
      axis_[e.results[i]] = out.axis[i];
    }
  }

  /// Without its batch axis, a result has the type it had.
  void check(const Equation& e, std::size_t i, const BatchOut& out) const {
    Type type = out.y[i].type();
    if (out.axis[i] != unbatched) type.shape.erase(static_cast<std::size_t>(out.axis[i]));
    if (type != p_.types[e.results[i]])
      throw InternalError("the batch rule of " + std::string(e.prim->name) + " gave " + to_string(out.y[i].type()) +
                          " with batch axis " + std::to_string(out.axis[i]) + " for a result " +
                          to_string(p_.types[e.results[i]]));
  }

  const Program& p_;
  std::int64_t size_;
  std::string_view axis_name_;
  Arrays value_;
  std::vector<int> axis_;
};

std::shared_ptr<const VmapProgram> make_vmap(const ProgramPtr& program, const std::vector<int>& axis,
                                             std::int64_t size, std::string_view axis_name) {
  auto out = std::make_shared<VmapProgram>();
  std::vector<Type> types = argument_types(*program);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (axis[i] != unbatched) types[i].shape.insert(static_cast<std::size_t>(axis[i]), size);
  out->program = build_program("vmap", types, program->sources, [&](const Arrays& in) {
    return Vmap(*program, size, axis_name).run(in, axis, out->out_axis);
  });
  return out;
}

}  // namespace

std::shared_ptr<const VmapProgram> vmap_program(const ProgramPtr& program, const std::vector<int>& axis,
                                                std::int64_t size, std::string_view axis_name) {
  std::vector<std::int64_t> key(axis.begin(), axis.end());
  key.push_back(size);
  for (char c : axis_name) key.push_back(c);
  return Memo::instance().get<VmapProgram>(
      program, MemoKind::vmap, key, [&] { return make_vmap(program, axis, size, axis_name); },
      [](const VmapProgram& r) { return program_bytes(*r.program); });
}

}  // namespace anadrome
