// Entries of the operations along axes: reductions, statistics, scans, sorting, pooling.
#include <stdexcept>

#include "anadrome/ops/reduce.h"
#include "conformance/op_table.h"

namespace anadrome::conformance {

namespace {

using Reduction = Array (*)(const Operand& x, const Axes& axes, bool keepdims);

OpFunction reduction(Reduction function) {
  return [function](const Arrays& in, const Params& p) -> Arrays {
    return {function(in.at(0), ints(p, "axes"), flag(p, "keepdims"))};
  };
}

using Moment = Array (*)(const Operand& x, const Axes& axes, bool keepdims, std::int64_t ddof);

OpFunction moment(Moment function) {
  return [function](const Arrays& in, const Params& p) -> Arrays {
    const std::int64_t ddof = p.contains("ddof") ? integer(p, "ddof") : 0;
    return {function(in.at(0), ints(p, "axes"), flag(p, "keepdims"), ddof)};
  };
}

Arrays all_true(const Arrays& in, const Params& p) {
  const Shape axes = ints(p, "axes");
  const bool keepdims = flag(p, "keepdims");
  switch (axes.rank()) {
    case 0:
      return {all(in.at(0), {}, keepdims)};
    case 1:
      return {all(in.at(0), {axes[0]}, keepdims)};
    case 2:
      return {all(in.at(0), {axes[0], axes[1]}, keepdims)};
    default:
      throw std::runtime_error("all of more than two axes has no entry");
  }
}

Arrays normed(const Arrays& in, const Params& p) {
  const std::string order = text(p, "ord");
  const double ord = order == "fro" ? 2 : std::stod(order);
  const Axes axes = p.contains("axis") ? Axes(integer(p, "axis")) : Axes();
  return {norm(in.at(0), ord, axes, false, NormAtZero::nan)};
}

void add_reductions(OpTable& table) {
  table["sum"] = reduction(sum);
  table["prod"] = reduction(prod);
  table["reduce_max"] = reduction(reduce_max);
  table["reduce_min"] = reduction(reduce_min);
  table["logsumexp"] = reduction(logsumexp);
  table["mean"] = reduction(mean);
  table["median"] = reduction(median);
  table["any"] = reduction(any);
  table["all"] = all_true;
  table["var"] = moment(var);
  table["std"] = moment(std);
  table["norm"] = normed;
  table["quantile"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {quantile(in.at(0), real(p, "q"), integer(p, "axis"))};
  };
  table["argmax"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {argmax(in.at(0), integer(p, "axis"))};
  };
  table["argmin"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {argmin(in.at(0), integer(p, "axis"))};
  };
}

using Scan = Array (*)(const Operand& x, Dim axis, bool reverse);

OpFunction scan(Scan function) {
  return [function](const Arrays& in, const Params& p) -> Arrays {
    return {function(in.at(0), integer(p, "axis"), flag(p, "reverse"))};
  };
}

void add_scans(OpTable& table) {
  table["cumsum"] = scan(cumsum);
  table["cumprod"] = scan(cumprod);
  table["cummax"] = scan(cummax);
  table["cummin"] = scan(cummin);
  table["cumlogsumexp"] = scan(cumlogsumexp);
  table["softmax"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {softmax(in.at(0), integer(p, "axis"))};
  };
  table["log_softmax"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {log_softmax(in.at(0), integer(p, "axis"))};
  };
  table["diff"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {diff(in.at(0), 1, integer(p, "axis"))};
  };
}

void add_sorting(OpTable& table) {
  table["sort"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {sort(in.at(0), integer(p, "axis"), flag(p, "descending"))};
  };
  table["argsort"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {argsort(in.at(0), integer(p, "axis"), flag(p, "descending"))};
  };
  table["sort_key_val"] = [](const Arrays& in, const Params& p) {
    return sort_key_val(in, integer(p, "num_keys"));
  };
  table["top_k"] = [](const Arrays& in, const Params& p) -> Arrays {
    const TopK top = top_k(in.at(0), integer(p, "k"));
    return {top.values, top.indices};
  };
}

using Pool = Array (*)(const Operand& x, const Ints& window, const PoolOptions& options);

OpFunction pool(Pool function) {
  return [function](const Arrays& in, const Params& p) -> Arrays {
    PoolOptions options{.strides = ints(p, "strides"), .low = {}, .high = {}};
    for (const Json& pad : p.at("pads")) {
      options.low.push_back(pad.at(0).get<std::int64_t>());
      options.high.push_back(pad.at(1).get<std::int64_t>());
    }
    return {function(in.at(0), ints(p, "window"), options)};
  };
}

}  // namespace

void add_reduce(OpTable& table) {
  add_reductions(table);
  add_scans(table);
  add_sorting(table);
  table["max_pool"] = pool(max_pool);
  table["min_pool"] = pool(min_pool);
  table["sum_pool"] = pool(sum_pool);
}

}  // namespace anadrome::conformance
