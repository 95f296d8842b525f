// Prefixes under an associative function, by halves: neighbours are combined, the prefixes of those pairs are every second
// prefix of all, and the others take one element more.
#include <algorithm>

#include "anadrome/control.h"
#include "api/along.h"
#include "api/prepare.h"

namespace anadrome::functional {
namespace {

class Prefixes {
 public:
  Prefixes(const Function& op, std::vector<int> axes, const Context& context) : op_(op), axes_(std::move(axes)), context_(context) {}

  Arrays of(const Arrays& x) const {
    const std::int64_t n = length(x);
    if (n < 2) return x;
    const Arrays odd = of(combined(every_second(x, 0, n - 1), every_second(x, 1, n)));
    const Arrays earlier = part(odd, 0, (n - 1) / 2), even = combined(earlier, every_second(x, 2, n));
    Arrays out;
    for (std::size_t k = 0; k < x.size(); ++k) out.push_back(merged(k, x[k], even[k], odd[k]));
    return out;
  }

  Arrays reversed(Arrays x) const {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = op::rev(x[k], {axes_[k]});
    return x;
  }

 private:
  std::int64_t length(const Arrays& x) const { return x[0].shape()[axes_[0]]; }

  Arrays part(const Arrays& x, std::int64_t from, std::int64_t to) const {
    Arrays out;
    for (std::size_t k = 0; k < x.size(); ++k) out.push_back(cut(x[k], axes_[k], from, to));
    return out;
  }
  Arrays every_second(const Arrays& x, std::int64_t from, std::int64_t to) const {
    Arrays out;
    for (std::size_t k = 0; k < x.size(); ++k) {
      Ints start, strides, limit = x[k].shape();
      start.resize(limit.size(), 0), strides.resize(limit.size(), 1);
      start[axes_[k]] = std::min(from, to), limit[axes_[k]] = to, strides[axes_[k]] = 2;
      out.push_back(op::slice(x[k], start, limit, strides));
    }
    return out;
  }

  /// Throws where the function changes the type of a leaf.
  Arrays combined(const Arrays& a, const Arrays& b) const {
    if (length(a) == 0) return a;
    Arrays x = a;
    x.insert(x.end(), b.begin(), b.end());
    const Arrays y = op_(x);
    if (y.size() != a.size())
      throw TypeError(context_.name + ": the function returns " + std::to_string(y.size()) + " Arrays for " + std::to_string(a.size()) +
                      ". Return the structure of its arguments." + at(context_));
    for (std::size_t k = 0; k < y.size(); ++k)
      if (y[k].type() != a[k].type())
        throw TypeError(context_.name + ": the function takes " + to_string(a[k].type()) + " and returns " + to_string(y[k].type()) +
                        " for " + leaf_name(context_, k) + ". It must keep the dtype and the shape, with as many elements along axis " +
                        std::to_string(axes_[k]) + " as it is given." + at(context_));
    return y;
  }

  /// The first element, then odd and even prefixes by turns.
  Array merged(std::size_t k, const Array& x, const Array& even, const Array& odd) const {
    const int axis = axes_[k];
    const std::int64_t n = x.shape()[axis], pairs = n / 2;
    const Array first = cut(x, axis, 0, 1), evens = op::concatenate(Arrays{first, even}, axis);
    const Array turns = by_turns(cut(evens, axis, 0, pairs), odd, axis);
    return n % 2 == 0 ? turns : op::concatenate(Arrays{turns, cut(evens, axis, pairs, pairs + 1)}, axis);
  }
  static Array by_turns(const Array& a, const Array& b, int axis) {
    Shape apart = a.shape(), together = a.shape();
    apart.insert(axis + 1, 1);
    together[axis] *= 2;
    return op::reshape(op::concatenate(Arrays{op::reshape(a, apart), op::reshape(b, apart)}, axis + 1), together);
  }

  const Function& op_;
  std::vector<int> axes_;
  const Context& context_;
};

/// The axis in each leaf; throws where there is none or lengths differ.
std::vector<int> axes_in(const Arrays& xs, std::int64_t axis, const Context& context) {
  std::vector<int> axes;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const std::string name = leaf_name(context, k) + ": " + to_string(xs[k].type());
    if (axis < -xs[k].rank() || axis >= xs[k].rank())
      throw TypeError(context.name + ": there is no axis " + std::to_string(axis) + " in " + name + "." + at(context));
    axes.push_back(static_cast<int>(axis < 0 ? axis + xs[k].rank() : axis));
    if (xs[k].shape()[axes[k]] != xs[0].shape()[axes[0]])
      throw TypeError(context.name + ": lengths differ along axis " + std::to_string(axis) + ": " + leaf_name(context, 0) + ": " +
                      to_string(xs[0].type()) + ", " + name + "." + at(context));
  }
  return axes;
}

}  // namespace

Arrays associative_scan(const Function& op, const Arrays& xs, std::int64_t axis, bool reverse, const Context& context) {
  SetSource at_call(context.source);
  check_values(xs, context);
  const Prefixes prefixes(op, axes_in(xs, axis, context), context);
  if (xs.empty()) return xs;
  return reverse ? prefixes.reversed(prefixes.of(prefixes.reversed(xs))) : prefixes.of(xs);
}

}  // namespace anadrome::functional
