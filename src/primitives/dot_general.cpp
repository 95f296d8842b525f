// dot_general: y[b, i, j] = sum over k of lhs[b, i, k] rhs[b, k, j] with any number of axes of each kind,
// named by number. Result axes: batch, rest of lhs, rest of rhs. One dtype; the 16-bit floats are multiplied
// and summed in float.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/dot_kernel.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

using contraction::Matrix;

/// The axes of an operand that are in neither list.
Ints rest_of(int rank, const Ints& contract, const Ints& batch) {
  std::uint64_t used = 0;
  for (std::int64_t a : contract) used |= std::uint64_t{1} << a;
  for (std::int64_t a : batch) used |= std::uint64_t{1} << a;
  Ints rest;
  for (int k = 0; k < rank; ++k)
    if (!(used >> k & 1)) rest.push_back(k);
  return rest;
}

// ---- type
// -----------------------------------------------------------------------------------------------------------

std::string both(const TypeIn& in) {
  return " (" + to_string(in.x[0]) + " x " + to_string(in.x[1]) + ").";
}

void check_axes(const TypeIn& in, int side, const Ints& contract, const Ints& batch) {
  std::uint64_t seen = 0;
  for (const Ints* list : {&contract, &batch})
    for (std::int64_t a : *list) {
      if (a < 0 || a >= in.x[side].rank() || (seen >> a & 1))
        refuse(in, std::string("axis ") + std::to_string(a) + " of the " + (side ? "right" : "left") +
                       " operand does not exist or is named twice" + both(in));
      seen |= std::uint64_t{1} << a;
    }
}
void check_pairs(const TypeIn& in, const Ints& left, const Ints& right, const char* kind) {
  if (left.size() != right.size())
    refuse(in, std::to_string(left.size()) + " " + kind + " axes of the left operand, " +
                   std::to_string(right.size()) + " of the right" + both(in));
  for (std::size_t i = 0; i < left.size(); ++i)
    if (in.x[0].shape[left[i]] != in.x[1].shape[right[i]])
      refuse(in, std::string(kind) + " axes differ: axis " + std::to_string(left[i]) +
                     " of the left operand has " + std::to_string(in.x[0].shape[left[i]]) + ", axis " +
                     std::to_string(right[i]) + " of the right has " +
                     std::to_string(in.x[1].shape[right[i]]) + both(in));
}

Types type_dot(const TypeIn& in) {
  refuse_complex(in);
  require_one_dtype(in, 0, 2);
  if (is_bool(in.x[0].dtype)) refuse(in, "needs integers or floats" + both(in) + " Convert b1 to i32.");
  const auto& d = in.as<DotAttr>();
  check_axes(in, 0, d.contract_lhs, d.batch_lhs);
  check_axes(in, 1, d.contract_rhs, d.batch_rhs);
  check_pairs(in, d.contract_lhs, d.contract_rhs, "contracted");
  check_pairs(in, d.batch_lhs, d.batch_rhs, "batch");
  Type y{in.x[0].dtype, {}};
  for (std::int64_t a : d.batch_lhs) y.shape.push_back(in.x[0].shape[a]);
  for (std::int64_t a : rest_of(in.x[0].rank(), d.contract_lhs, d.batch_lhs))
    y.shape.push_back(in.x[0].shape[a]);
  for (std::int64_t a : rest_of(in.x[1].rank(), d.contract_rhs, d.batch_rhs))
    y.shape.push_back(in.x[1].shape[a]);
  require_shape(in, y.shape);
  return {y};
}

// ---- evaluation
// -----------------------------------------------------------------------------------------------------

/// How one operand is seen as a matrix: in place where its row axes and its column axes each run with one
/// stride, else through a row-major copy.
struct Side {
  Loops copy;  // to: row-major matrix, from: the operand
  std::int64_t row = 1, column = 1, rows = 1, columns = 1;
  bool copied = false;
};

Side side_of(const Type& x, const Ints& row_axes, const Ints& column_axes, bool must_copy) {
  const Strides strides = row_major(x.shape);
  Side s;
  Loops rows, columns;
  for (std::int64_t a : row_axes) rows.add(x.shape[a], strides[a], strides[a]), s.rows *= x.shape[a];
  for (std::int64_t a : column_axes) columns.add(x.shape[a], strides[a], strides[a]), s.columns *= x.shape[a];
  s.copied = must_copy || rows.rank > 1 || columns.rank > 1;
  if (!s.copied) {
    if (rows.rank) s.row = rows.from[0];
    if (columns.rank) s.column = columns.from[0];
    return s;
  }
  std::int64_t step = s.rows * s.columns;
  for (const Ints* axes : {&row_axes, &column_axes})
    for (std::int64_t a : *axes) {
      if (x.shape[a] != 0) step /= x.shape[a];
      s.copy.add(x.shape[a], step, strides[a]);
    }
  s.row = s.columns, s.column = 1;
  return s;
}

struct Plan {
  Loops batch;  // to: lhs, from: rhs
  Side lhs, rhs;
  std::int64_t m, n, k;
  bool half;

  /// Elements of working memory, in the type that is computed in: copies, the packed part, a result to be
  /// rounded.
  std::int64_t copied_lhs() const { return lhs.copied ? m * k : 0; }
  std::int64_t copied_rhs() const { return rhs.copied ? k * n : 0; }
  std::int64_t wide_result() const { return half ? m * n : 0; }
  std::int64_t elements() const {
    return copied_lhs() + copied_rhs() + wide_result() + contraction::packed_elements(m, n, k);
  }
};

Plan plan_of(std::span<const Type> x, const DotAttr& d) {
  Plan p;
  p.half = item_size(x[0].dtype) == 2 && is_float(x[0].dtype);
  const Strides left = row_major(x[0].shape), right = row_major(x[1].shape);
  for (std::size_t i = 0; i < d.batch_lhs.size(); ++i)
    p.batch.add(x[0].shape[d.batch_lhs[i]], left[d.batch_lhs[i]], right[d.batch_rhs[i]]);
  p.lhs = side_of(x[0], rest_of(x[0].rank(), d.contract_lhs, d.batch_lhs), d.contract_lhs, p.half);
  p.rhs = side_of(x[1], d.contract_rhs, rest_of(x[1].rank(), d.contract_rhs, d.batch_rhs), p.half);
  p.m = p.lhs.rows, p.k = p.lhs.columns, p.n = p.rhs.columns;
  return p;
}

template <class C, class T> Matrix<C> matrix_of(const Side& s, const T* x, C* space) {
  if (!s.copied) {
    if constexpr (std::is_same_v<C, T>) return {x, s.row, s.column};
  }
  const int last = s.copy.rank - 1;
  const std::int64_t n = last < 0 ? 1 : s.copy.extent[last];
  const std::int64_t to_step = last < 0 ? 1 : s.copy.to[last], from_step = last < 0 ? 1 : s.copy.from[last];
  for_each_run(s.copy, 1, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t i = 0; i < n; ++i) space[to + i * to_step] = static_cast<C>(x[from + i * from_step]);
  });
  return {space, s.row, s.column};
}

/// T: as stored; C: computed in.
template <class T, class C> void eval_as(const EvalIn& in) {
  const Plan p = plan_of(in.in, in.as<DotAttr>());
  const T *left = static_cast<const T*>(in.x[0]), *right = static_cast<const T*>(in.x[1]);
  T* y = static_cast<T*>(in.y[0]);
  C* lhs_space = static_cast<C*>(in.scratch);
  C* rhs_space = lhs_space + p.copied_lhs();
  C* wide = rhs_space + p.copied_rhs();
  C* packed = wide + p.wide_result();
  for_each_run(p.batch, 0, [&](std::int64_t at_left, std::int64_t at_right) {
    const Matrix<C> a = matrix_of<C>(p.lhs, left + at_left, lhs_space);
    const Matrix<C> b = matrix_of<C>(p.rhs, right + at_right, rhs_space);
    if constexpr (std::is_same_v<T, C>) {
      contraction::multiply(p.m, p.n, p.k, a, b, y, packed);
    } else {
      contraction::multiply(p.m, p.n, p.k, a, b, wide, packed);
      for (std::int64_t i = 0; i < p.m * p.n; ++i) y[i] = static_cast<T>(wide[i]);
    }
    y += p.m * p.n;
  });
}

void eval_dot(const EvalIn& in) {
  dispatch_number(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    if constexpr (std::is_integral_v<T>)
      eval_as<std::make_unsigned_t<T>, std::make_unsigned_t<T>>(in);
    else
      eval_as<T, Compute<T>>(in);
  });
}

std::size_t scratch_dot(const CostIn& in) {
  const Plan p = plan_of(in.in, in.as<DotAttr>());
  const std::size_t size = p.half ? sizeof(float) : item_size(in.in[0].dtype);
  return static_cast<std::size_t>(p.elements()) * size;
}

// ---- derivatives and batching
// ---------------------------------------------------------------------------------------

Arrays jvp_dot(const JvpIn& in) {
  Array sum;
  for (std::size_t side : {0, 1}) {
    if (!in.has(side)) continue;
    const Array term = op::dot_general(side ? in.x[0] : in.t[0], side ? in.t[1] : in.x[1], in.as<DotAttr>());
    sum = sum.defined() ? op::add(sum, term) : term;
  }
  return {sum};
}

bool ascending(const Ints& perm) {
  return perm == axes_between(0, perm.rank());
}

Ints joined(const Ints& a, const Ints& b) {
  Ints list = a;
  for (std::int64_t v : b) list.push_back(v);
  return list;
}

/// Cotangent of the operand `side`: the cotangent contracted with the other operand over the other one's free
/// axes. The product is taken in the order that needs no transpose, where there is one.
Array cotangent(const TransposeIn& in, int side) {
  auto [contract, contract_other, batch, batch_other] = in.as<DotAttr>();
  if (side == 1) std::swap(contract, contract_other), std::swap(batch, batch_other);
  const Array& other = in.x[1 - side];
  const Ints rest = rest_of(in.in[side].rank(), contract, batch);
  const Ints rest_other = rest_of(other.rank(), contract_other, batch_other);
  const std::int64_t batches = batch.rank(), mine = rest.rank(), theirs = rest_other.rank();
  const Ints over = side == 0 ? axes_between(batches + mine, batches + mine + theirs)
                              : axes_between(batches, batches + theirs);
  // Axes of `other` that stay free are its contracted ones, in its own order: the axes of mine they belong
  // to.
  Ints matched, order = contract_other;
  std::sort(order.begin(), order.end());
  for (std::int64_t a : order)
    matched.push_back(
        contract[std::find(contract_other.begin(), contract_other.end(), a) - contract_other.begin()]);
  const Ints ct_first = joined(joined(batch, rest), matched),
             other_first = joined(joined(batch, matched), rest);
  const bool swap = !ascending(ct_first) && (ascending(other_first) || side == 1);
  const Ints ct_batch = axes_between(0, batches);
  const Array product = swap ? op::dot_general(other, in.ct[0], {rest_other, over, batch_other, ct_batch})
                             : op::dot_general(in.ct[0], other, {over, rest_other, ct_batch, batch_other});
  const Ints& axis_of = swap ? other_first : ct_first;
  Ints perm = axis_of;
  for (int k = 0; k < perm.rank(); ++k) perm[axis_of[k]] = k;
  return op::transpose(product, perm);
}

void transpose_dot(const TransposeIn& in) {
  for (int side : {0, 1})
    if (in.wants(static_cast<std::size_t>(side))) in.acc[side]->add(cotangent(in, side));
}

int place_in(const Ints& list, std::int64_t value) {
  return static_cast<int>(std::find(list.begin(), list.end(), value) - list.begin());
}

/// Both batched: one more batch axis. One batched: one more free axis, wherever it falls in the result.
BatchOut batch_dot(const BatchIn& in) {
  DotAttr d = in.as<DotAttr>();
  const int left = in.axis[0], right = in.axis[1], batches = d.batch_lhs.rank();
  if (in.batched(0))
    d.contract_lhs = past_batch(d.contract_lhs, left), d.batch_lhs = past_batch(d.batch_lhs, left);
  if (in.batched(1))
    d.contract_rhs = past_batch(d.contract_rhs, right), d.batch_rhs = past_batch(d.batch_rhs, right);
  int place = 0;
  if (in.batched(0) && in.batched(1)) {
    d.batch_lhs = inserted(d.batch_lhs, 0, left), d.batch_rhs = inserted(d.batch_rhs, 0, right);
  } else if (in.batched(0)) {
    place = batches + place_in(rest_of(in.x[0].rank(), d.contract_lhs, d.batch_lhs), left);
  } else {
    const int rest_left = in.x[0].rank() - batches - d.contract_lhs.rank();
    place = batches + rest_left + place_in(rest_of(in.x[1].rank(), d.contract_rhs, d.batch_rhs), right);
  }
  return {op::dot_general(in.x[0], in.x[1], d), place};
}

}  // namespace

constinit const Prim prim::dot_general = {
    .name = "dot_general",
    .type = type_dot,
    .eval = eval_dot,
    .jvp = jvp_dot,
    .transpose = transpose_dot,
    .batch = batch_dot,
    .cost = [](const CostIn& in) -> Cost {
      double k = 1;
      for (std::int64_t a : in.as<DotAttr>().contract_lhs) k *= static_cast<double>(in.in[0].shape[a]);
      return {.flops = 2 * k * static_cast<double>(in.out[0].elements())};
    },
    .scratch = scratch_dot};

Array op::dot_general(const Array& lhs, const Array& rhs, const DotAttr& dims) {
  return bind1(prim::dot_general, {lhs, rhs}, dims);
}

}  // namespace anadrome
