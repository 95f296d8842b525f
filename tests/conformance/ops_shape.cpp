// Entries of the operations that make arrays and move their elements.
#include "anadrome/ops/shape.h"
#include "conformance/op_table.h"

namespace anadrome::conformance {

namespace {

Arrays counted(const Arrays&, const Params& p) {
  const Json& args = p.at("args");
  const bool bounded = args.size() > 1;
  const DType dtype = dtype_in(p, "dt");
  if (args.at(0).is_number_float()) {
    return {arange(args.at(0).get<double>(), args.at(1).get<double>(), args.at(2).get<double>(), dtype)};
  }
  const std::int64_t lo = bounded ? args.at(0).get<std::int64_t>() : 0;
  const std::int64_t hi = args.at(bounded ? 1 : 0).get<std::int64_t>();
  return {arange(lo, hi, args.size() > 2 ? args.at(2).get<std::int64_t>() : 1, dtype)};
}

void add_making(OpTable& table) {
  table["arange"] = counted;
  table["iota"] = [](const Arrays&, const Params& p) -> Arrays {
    return {iota(dtype_in(p, "dt"), ints(p, "shape"), integer(p, "dim"))};
  };
  table["eye"] = [](const Arrays&, const Params& p) -> Arrays {
    return {eye(integer(p, "n"), integer(p, "m"), integer(p, "k"), dtype_in(p, "dt"))};
  };
  table["linspace"] = [](const Arrays&, const Params& p) -> Arrays {
    return {linspace(real(p, "start"), real(p, "stop"), integer(p, "num"), flag(p, "endpoint"),
                     dtype_in(p, "dt"))};
  };
}

Arrays rolled(const Arrays& in, const Params& p) {
  const Json &shift = p.at("shift"), &axis = p.at("axis");
  if (axis.is_null()) return {roll(in.at(0), shift.get<std::int64_t>())};
  if (axis.is_array()) return {roll(in.at(0), ints(shift), ints(axis))};
  return {roll(in.at(0), shift.get<std::int64_t>(), axis.get<std::int64_t>())};
}

void add_axes(OpTable& table) {
  table["broadcast_in_dim"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {broadcast_in_dim(in.at(0), ints(p, "shape"), ints(p, "dims"))};
  };
  table["broadcast_to"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {broadcast_to(in.at(0), ints(p, "shape"))};
  };
  table["reshape"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {reshape(in.at(0), ints(p, "shape"))};
  };
  table["transpose"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {transpose(in.at(0), ints(p, "perm"))};
  };
  table["squeeze"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {squeeze(in.at(0), ints(p, "dims"))};
  };
  table["expand_dims"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {expand_dims(in.at(0), ints(p, "dims"))};
  };
  table["swapaxes"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {swapaxes(in.at(0), integer(p, "a"), integer(p, "b"))};
  };
  table["moveaxis"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {moveaxis(in.at(0), integer(p, "src"), integer(p, "dst"))};
  };
  table["rev"] = [](const Arrays& in, const Params& p) -> Arrays { return {rev(in.at(0), ints(p, "dims"))}; };
  table["roll"] = rolled;
}

Arrays pieces(const Arrays& in, const Params& p) {
  if (p.contains("sections")) return split(in.at(0), integer(p, "sections"), integer(p, "axis"));
  return split(in.at(0), ints(p, "indices"), integer(p, "axis"));
}

Arrays padded(const Arrays& in, const Params& p) {
  std::vector<PadWidth> widths;
  for (const Json& w : p.at("config")) {
    widths.push_back({w.at(0).get<std::int64_t>(), w.at(1).get<std::int64_t>(), w.at(2).get<std::int64_t>()});
  }
  return {pad(in.at(0), in.at(1), widths)};
}

void add_joining_and_cutting(OpTable& table) {
  table["concatenate"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {concatenate(in, integer(p, "axis"))};
  };
  table["stack"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {stack(in, integer(p, "axis"))};
  };
  table["split"] = pieces;
  table["tile"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {tile(in.at(0), ints(p, "reps"))};
  };
  table["repeat"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {repeat(in.at(0), integer(p, "repeats"), integer(p, "axis"))};
  };
  table["pad"] = padded;
  table["slice"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {static_slice(in.at(0), ints(p, "start"), ints(p, "limit"), ints(p, "strides"))};
  };
  table["dynamic_slice"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {dynamic_slice(in.at(0), std::vector<Operand>(in.begin() + 1, in.end()), ints(p, "sizes"))};
  };
  table["dynamic_update_slice"] = [](const Arrays& in, const Params&) -> Arrays {
    return {dynamic_update_slice(in.at(0), in.at(1), std::vector<Operand>(in.begin() + 2, in.end()))};
  };
}

void add_matrices(OpTable& table) {
  table["tril"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {tril(in.at(0), integer(p, "k"))};
  };
  table["triu"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {triu(in.at(0), integer(p, "k"))};
  };
  table["diag"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {diag(in.at(0), integer(p, "k"))};
  };
  table["trace"] = [](const Arrays& in, const Params&) -> Arrays { return {trace(in.at(0))}; };
  table["one_hot"] = [](const Arrays& in, const Params& p) -> Arrays {
    const std::int64_t axis = p.contains("axis") ? integer(p, "axis") : -1;
    return {one_hot(in.at(0), integer(p, "n"), dtype_in(p, "dt"), axis)};
  };
}

}  // namespace

void add_shape(OpTable& table) {
  add_making(table);
  add_axes(table);
  add_joining_and_cutting(table);
  add_matrices(table);
}

}  // namespace anadrome::conformance
