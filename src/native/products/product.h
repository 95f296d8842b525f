// Products of matrices as steps of a compiled program.
//
//   std::optional<Product> p = plan_product(attributes, lhs_type, rhs_type);     when compiling; none for
//   integers reserve p->scratch_bytes(num_threads()) in the arena                          what run needs
//   p->run(lhs, rhs, out, scratch, threads);                                      when running: over the pool
//
// or, from inside chunks of the caller's own, so that what follows finds the rows in the cache:
//
//   p->prepare(lhs, rhs, prepared);                  once, when prepared_bytes() is not 0 (rare: axes that do
//   not merge) p->run_rows(lhs, rhs, prepared, out, workspace, begin, end);
//                                                    rows [begin, end) of [0, rows()): all but the columns of
//                                                    the result, in its order; workspace_bytes() for each
//                                                    call at a time
//
// With plan.accumulate the products are added to what is in `out`: bitwise what a product and an addition of
// its own would give, unless more than 256 numbers are contracted. Operands and result may be views with any
// strides (a transpose, a slice, a broadcast); `out` must not overlap the operands. Results are the same bits
// for any cut into rows and any number of threads; NaN and infinity come out as from plain loops.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "anadrome/shape.h"
#include "native/products/kernels.h"
#include "native/products/layout.h"

namespace anadrome::products {

struct ProductPlan {
  View lhs_view, rhs_view, out_view;  // strides by axis in elements; empty means row-major
  bool accumulate = false;
  const KernelSet* kernels = nullptr;  // null: the best of this machine
};

/// Which kernels run, and how.
struct Choice {
  enum class Kind : std::uint8_t {
    zeros,        // nothing is contracted
    tiles,        // registers hold a part of the result
    turned_row,   // one column, and the columns of lhs are contiguous: a row times its transpose
    row_dots,     // rows of lhs with the few columns of rhs, along the contracted axis
    column_dots,  // columns of rhs with the few rows of lhs
  };
  Kind kind = Kind::tiles;
  DType dtype = DType::f32;
  const KernelSet* kernels = nullptr;
  bool add = false;
  bool indirect =
      false;  // the result is summed up elsewhere: a 16-bit float, or columns that are not contiguous
  bool packs_lhs = false, packs_rhs = false;
  bool streams = false;   // a turned row comes from far away
  bool copies_y = false;  // the few vectors of dots are not contiguous
  std::int64_t row_block = 1, column_block = 1, packed_columns = 1, panel = 1, tile_rows = 1, lanes = 1;
};

class Product {
 public:
  /// Rows of the result, over all batches: what run_rows counts. 0 when there is nothing to compute.
  std::int64_t rows() const { return groups_ * layout_.m; }
  /// Cutting rows at multiples of this keeps all registers busy.
  std::int64_t row_multiple() const { return choice_.tile_rows; }
  /// True when the result lies the other way round, so that rows() counts what are columns by the attributes.
  bool counts_columns() const { return layout_.swapped; }
  /// True when every element of the result is summed up in tiles: then results are the same bits for any cut.
  bool is_tiled() const { return choice_.kind == Choice::Kind::tiles && !choice_.indirect; }
  /// True when each run copies operand 0 or 1.
  bool packs(int operand) const {
    const bool lhs = (operand == 0) != layout_.swapped;
    return lhs ? choice_.packs_lhs || layout_.lhs_copy.has_value() : choice_.packs_rhs || layout_.rhs_copy.has_value();
  }
  std::size_t prepared_bytes() const { return prepared_bytes_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// What `run` needs beside its stack, where it keeps workspaces of up to stack_bytes.
  std::size_t scratch_bytes(int threads) const {
    return prepared_bytes_ + (uses_stack() ? 0 : workspace_bytes_ * std::size_t(threads));
  }
  /// Estimated time on one thread, for deciding what to spread.
  double nanoseconds() const { return nanoseconds_; }
  /// What runs, for people: "tiles avx2 f32 256x512x256".
  std::string text() const;

  /// Copies operands whose axes do not merge.
  void prepare(const void* lhs, const void* rhs, void* prepared) const;
  void run_rows(const void* lhs, const void* rhs, const void* prepared, void* out, void* workspace,
                std::int64_t begin, std::int64_t end) const;
  /// Everything, on up to `threads` threads of the pool. scratch has scratch_bytes(threads), aligned to 64
  /// bytes.
  void run(const void* lhs, const void* rhs, void* out, void* scratch, int threads) const;

 private:
  friend std::optional<Product> plan_product(const DotAttr&, const Type&, const Type&, const ProductPlan&);
  static constexpr std::size_t stack_bytes = 16384;
  bool uses_stack() const { return workspace_bytes_ <= stack_bytes; }
  struct Ranges;
  void run_on_stack(const void* lhs, const void* rhs, const void* prepared, void* out, const Ranges& ranges) const;
  void run_ranges(const void* lhs, const void* rhs, const void* prepared, void* out, void* workspace,
                  const Ranges& ranges) const;
  template <class T>
  void run_typed(const T* lhs, const T* rhs, T* out, void* workspace, const Ranges& ranges) const;

  Layout layout_;
  Choice choice_;
  std::int64_t groups_ = 1, repeats_ = 1;  // positions of the outer and of the inner loops
  std::size_t lhs_copy_bytes_ = 0, prepared_bytes_ = 0, workspace_bytes_ = 0;
  double nanoseconds_ = 0;
};

/// The plan of dot_general for floats; none for other types.
std::optional<Product> plan_product(const DotAttr& dims, const Type& lhs, const Type& rhs,
                                    const ProductPlan& plan = {});

}  // namespace anadrome::products
