// run_kernel: independent ranges of the outermost loop, or blocks of a sum that are added in a fixed order.
#include "native/run_kernel.h"

#include <cstring>

#include "native/pool.h"
#include "primitives/prims.h"
#include "primitives/reduce_kernel.h"

namespace anadrome {
namespace {

constexpr double nanoseconds_per_operation = 0.6;  // of one vector operation, with the memory that it touches

bool has_blocks(const CompiledKernel& kernel) {
  return !kernel.nest.loops.empty() && kernel.nest.first_reduced() == 0 && kernel.nest.blocks > 1;
}
bool is_partial(const CompiledKernel& kernel, std::size_t output) { return kernel.nest.roots[output].reduction != nullptr; }
std::size_t output_bytes(const CompiledKernel& kernel, std::size_t output) {
  return kernel.body->type(kernel.body->outputs[output]).bytes();
}

template <class Reduction, class T>
void add_blocks(const char* partial, std::size_t stride, std::int64_t blocks, std::int64_t elements, char* out) {
  for (std::int64_t i = 0; i < elements; ++i) {
    auto total = Reduction::identity;
    for (std::int64_t b = 0; b < blocks; ++b) {
      T x;
      std::memcpy(&x, partial + static_cast<std::size_t>(b) * stride + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
      total = Reduction::combine(total, static_cast<typename Reduction::Accumulator>(static_cast<Compute<T>>(x)));
    }
    const T y = static_cast<T>(static_cast<Compute<T>>(total));
    std::memcpy(out + static_cast<std::size_t>(i) * sizeof(T), &y, sizeof(T));
  }
}
template <class T>
void add_blocks(const Prim& p, const char* partial, std::size_t stride, std::int64_t blocks, std::int64_t n, char* out) {
  if constexpr (!std::is_same_v<T, bool>) {
    if (&p == &prim::reduce_sum) return add_blocks<reduction::Sum<T>, T>(partial, stride, blocks, n, out);
    if (&p == &prim::reduce_prod) return add_blocks<reduction::Product<T>, T>(partial, stride, blocks, n, out);
  }
  if (&p == &prim::reduce_max) return add_blocks<reduction::Max<T>, T>(partial, stride, blocks, n, out);
  if (&p == &prim::reduce_min) return add_blocks<reduction::Min<T>, T>(partial, stride, blocks, n, out);
  if constexpr (!is_floating<T>) {
    if (&p == &prim::reduce_and) return add_blocks<reduction::And<T>, T>(partial, stride, blocks, n, out);
    if (&p == &prim::reduce_or) return add_blocks<reduction::Or<T>, T>(partial, stride, blocks, n, out);
  }
}

void run_blocks(const CompiledKernel& kernel, char* const* pointers, char* scratch) {
  const LoopNest& nest = kernel.nest;
  const std::size_t inputs = kernel.body->inputs.size(), outputs = kernel.body->outputs.size();
  std::size_t stride = 0;
  for (std::size_t k = 0; k < outputs; ++k)
    if (is_partial(kernel, k)) stride += (output_bytes(kernel, k) + 7) / 8 * 8;
  const std::int64_t n = nest.loops[0].extent, multiple = range_step(nest);
  const std::int64_t size = ((n + nest.blocks - 1) / nest.blocks + multiple - 1) / multiple * multiple;
  const std::int64_t blocks = (n + size - 1) / size;
  const auto run_block = [&](std::int64_t b) {
    boost::container::small_vector<char*, 24> at(pointers, pointers + inputs + outputs);
    std::size_t offset = static_cast<std::size_t>(b) * stride;
    for (std::size_t k = 0; k < outputs; ++k)
      if (is_partial(kernel, k)) at[inputs + k] = scratch + offset, offset += (output_bytes(kernel, k) + 7) / 8 * 8;
    kernel.run(at.data(), b * size, std::min(n, (b + 1) * size));
  };
  if (worth_spreading(kernel.item_nanoseconds * static_cast<double>(n))) parallel_for(blocks, run_block);
  else
    for (std::int64_t b = 0; b < blocks; ++b) run_block(b);
  std::size_t offset = 0;
  for (std::size_t k = 0; k < outputs; ++k) {
    if (!is_partial(kernel, k)) continue;
    const Type type = kernel.body->type(kernel.body->outputs[k]);
    dispatch_real(type.dtype, [&](auto tag) {
      add_blocks<typename decltype(tag)::type>(*nest.roots[k].reduction->prim, scratch + offset, stride, blocks,
                                               type.elements(), pointers[inputs + k]);
    });
    offset += (output_bytes(kernel, k) + 7) / 8 * 8;
  }
}

}  // namespace

std::int64_t range_step(const LoopNest& nest) {
  const bool lanes_outermost = nest.lane == nest.ranged() || nest.tile == nest.ranged();
  const bool sum_outermost = nest.loops[0].reduced && nest.loops.size() == 1;
  return (lanes_outermost ? nest.lanes * nest.copies : 1) * (sum_outermost ? nest.unroll : 1);
}

double item_nanoseconds(const LoopNest& nest) {
  double points = 1;
  for (int d = 0; d < static_cast<int>(nest.loops.size()); ++d)
    if (d != nest.ranged()) points *= static_cast<double>(nest.loops[static_cast<std::size_t>(d)].extent);
  return points * nest.time * nanoseconds_per_operation / nest.lanes;
}

std::size_t kernel_scratch_bytes(const CompiledKernel& kernel) {
  if (!has_blocks(kernel)) return 0;
  std::size_t stride = 0;
  for (std::size_t k = 0; k < kernel.body->outputs.size(); ++k)
    if (is_partial(kernel, k)) stride += (output_bytes(kernel, k) + 7) / 8 * 8;
  return stride * static_cast<std::size_t>(kernel.nest.blocks);
}

void run_kernel(const CompiledKernel& kernel, char* const* pointers, char* scratch) {
  const LoopNest& nest = kernel.nest;
  if (nest.loops.empty()) return kernel.run(pointers, 0, 1);
  if (has_blocks(kernel)) return run_blocks(kernel, pointers, scratch);
  const Loop& ranged = nest.loops[static_cast<std::size_t>(nest.ranged())];
  const std::int64_t n = ranged.extent;
  if (ranged.reduced) return kernel.run(pointers, 0, n);
  const double item = kernel.item_nanoseconds;
  if (!worth_spreading(item * static_cast<double>(n))) return kernel.run(pointers, 0, n);
  parallel_ranges(n, item, [&](std::int64_t begin, std::int64_t end) { kernel.run(pointers, begin, end); }, range_step(nest));
}

}  // namespace anadrome
