// Products of arrays whose axes carry labels, as contractions of pairs.
#include "api/contract.h"

#include <algorithm>

#include "primitives/batching.h"

namespace anadrome {

bool Labeled::has(std::int64_t label) const {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
std::int64_t Labeled::extent(std::int64_t label) const {
  return x.shape()[std::find(labels.begin(), labels.end(), label) - labels.begin()];
}

namespace {

bool contains(const Ints& list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::int64_t place_of(const Ints& list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) - list.begin();
}

/// The diagonal of the axes i < j, which ends up as the last axis.
Labeled diagonal_of(const Labeled& a, int i, int j) {
  const std::int64_t n = a.x.shape()[i];
  Ints perm, labels;
  Shape shape;
  for (int k = 0; k < a.x.rank(); ++k) {
    if (k == i || k == j) continue;
    perm.push_back(k), labels.push_back(a.labels[k]), shape.push_back(a.x.shape()[k]);
  }
  const int last = shape.rank();
  perm.push_back(i), perm.push_back(j), labels.push_back(a.labels[i]), shape.push_back(n * n);
  const Array flat = op::reshape(op::transpose(a.x, perm), shape);
  Ints start, strides;
  start.resize(shape.size(), 0), strides.resize(shape.size(), 1);
  strides[last] = n + 1;
  return {op::slice(flat, start, shape, strides), labels};
}

Labeled without_repeats(Labeled a, std::string_view what) {
  for (int j = 1; j < a.labels.rank(); ++j)
    for (int i = 0; i < j; ++i)
      if (a.labels[i] == a.labels[j]) {
        if (a.x.shape()[i] != a.x.shape()[j])
          refuse(what, "axes " + std::to_string(i) + " and " + std::to_string(j) + " of " +
                           to_string(a.x.type()) + " share a letter and must have one extent.");
        return without_repeats(diagonal_of(a, i, j), what);
      }
  return a;
}

/// Drops the axes where `gone` holds: sums over them, or reshapes where their extent is 1.
template <class Gone> Labeled drop(const Labeled& a, Gone gone) {
  Ints axes, labels;
  Shape shape;
  bool ones = true;
  for (int k = 0; k < a.labels.rank(); ++k)
    if (gone(a.labels[k])) {
      axes.push_back(k);
      ones = ones && a.x.shape()[k] == 1;
    } else {
      labels.push_back(a.labels[k]), shape.push_back(a.x.shape()[k]);
    }
  return {ones ? op::reshape(a.x, shape) : op::reduce_sum(a.x, axes), labels};
}

/// Axes of extent 1 whose label is longer elsewhere go; other differences are refused.
void drop_broadcast(std::vector<Labeled>& arrays, std::string_view what) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (std::size_t j = 0; j < arrays.size(); ++j) {
      const Labeled other = arrays[j];
      for (std::int64_t l : other.labels)
        if (arrays[i].has(l) && arrays[i].extent(l) != other.extent(l) && arrays[i].extent(l) != 1 &&
            other.extent(l) != 1)
          refuse(what, "axis " + std::to_string(place_of(arrays[i].labels, l)) + " of " +
                           to_string(arrays[i].x.type()) + " has " + std::to_string(arrays[i].extent(l)) +
                           ", axis " + std::to_string(place_of(other.labels, l)) + " of " +
                           to_string(other.x.type()) + " has " + std::to_string(other.extent(l)) +
                           "; they must agree.");
      arrays[i] = drop(arrays[i], [&](std::int64_t l) {
        return other.has(l) && arrays[i].extent(l) == 1 && other.extent(l) != 1;
      });
    }
}

Ints product_labels(const Labeled& a, const Labeled& b, const Ints& keep) {
  Ints labels;
  for (std::int64_t l : a.labels)
    if (b.has(l) && contains(keep, l)) labels.push_back(l);
  for (std::int64_t l : a.labels)
    if (!b.has(l)) labels.push_back(l);
  for (std::int64_t l : b.labels)
    if (!a.has(l)) labels.push_back(l);
  return labels;
}

/// One contraction; labels in `keep` that both have are batch axes. The order of the factors is the one whose
/// result needs no transpose to `keep`, if there is one.
Labeled product(const Labeled& first, const Labeled& second, const Ints& keep) {
  const Labeled a = drop(first, [&](std::int64_t l) { return !second.has(l) && !contains(keep, l); });
  const Labeled b = drop(second, [&](std::int64_t l) { return !first.has(l) && !contains(keep, l); });
  const bool swap = product_labels(a, b, keep) != keep && product_labels(b, a, keep) == keep;
  const Labeled &left = swap ? b : a, &right = swap ? a : b;
  DotAttr dims;
  for (int k = 0; k < left.labels.rank(); ++k) {
    if (!right.has(left.labels[k])) continue;
    const bool batch = contains(keep, left.labels[k]);
    (batch ? dims.batch_lhs : dims.contract_lhs).push_back(k);
    (batch ? dims.batch_rhs : dims.contract_rhs).push_back(place_of(right.labels, left.labels[k]));
  }
  return {op::dot_general(left.x, right.x, dims), product_labels(left, right, keep)};
}

double cost(const Labeled& a, const Labeled& b) {
  double n = static_cast<double>(a.x.size());
  for (std::int64_t l : b.labels)
    if (!a.has(l)) n *= static_cast<double>(b.extent(l));
  return n;
}

}  // namespace

Array contract(std::vector<Labeled> arrays, const Ints& result, std::string_view what) {
  for (Labeled& a : arrays) a = without_repeats(a, what);
  drop_broadcast(arrays, what);
  while (arrays.size() > 1) {
    std::size_t best_i = 0, best_j = 1;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      for (std::size_t j = i + 1; j < arrays.size(); ++j)
        if (cost(arrays[i], arrays[j]) < cost(arrays[best_i], arrays[best_j])) best_i = i, best_j = j;
    const Labeled a = arrays[best_i], b = arrays[best_j];
    arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(best_j));
    arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(best_i));
    Ints keep = result;  // and what the others still need
    for (const Labeled& other : arrays)
      for (std::int64_t l : other.labels)
        if (!contains(keep, l)) keep.push_back(l);
    arrays.insert(arrays.begin(), product(a, b, keep));
  }
  const Labeled y = drop(arrays[0], [&](std::int64_t l) { return !contains(result, l); });
  Ints perm;
  for (std::int64_t l : result) perm.push_back(place_of(y.labels, l));
  return op::transpose(y.x, perm);
}

}  // namespace anadrome
