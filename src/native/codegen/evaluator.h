// The values of a body at points of the nest: each is computed where it is read, once per point.
#pragma once
#include "native/codegen/context.h"

namespace anadrome::codegen {

/// The nest while it is written: where code for each loop goes, and the loops' indices.
struct Frame {
  std::vector<llvm::BasicBlock*> level_block;  // [d]: inside loops [0, d)
  std::vector<llvm::Value*> index;             // of loop d; of the lane loop: that of lane 0
  llvm::Value* mask = nullptr;                 // lanes that exist, or null: all do
  std::int64_t copy = 0;                       // which copy of the body in a tile is written; in a chain, its first lane
  llvm::Value* again = nullptr;                // how many lanes were there before, where vectors overlap
  llvm::Value* remaining = nullptr;            // how many lanes exist, where mask is set
};

class Evaluator {
 public:
  Evaluator(llvm::Module& module, Symbols& symbols, const Program& body, const LoopNest& nest, Frame& frame,
            llvm::IRBuilder<>& build);

  /// The value at a place.
  Cell at(const Atom& a, const Place& place, int guard = no_guard);
  /// first, first + 1, ... by lane.
  llvm::Constant* lane_numbers(std::int64_t first = 0);
  /// The value for all lanes.
  llvm::Value* in_lanes(const Cell& cell);
  /// True for a cosine that the call for the sine gives: it lies in memory until it is used.
  bool comes_with_sine(const Equation& e) const;
  /// Forgets what was computed inside loop d: its code is written again, or no longer reached.
  void leave(int depth);
  /// Writes a value to result `k`.
  void store(std::size_t k, const Place& place, const Cell& value);
  /// True when result `k` is written in transposed blocks.
  bool stores_tiles(std::size_t k, const Place& place) const;
  /// Writes the copies of a tile to result `k`; `place` is that of the first.
  void store_tile(std::size_t k, const Place& place, const std::vector<Cell>& copies);
  /// The address of element `offset` of pointer number `pointer`, for lane 0.
  Cell address(std::size_t pointer, DType dtype, const Affine& offset);
  Affine offset(const Shape& shape, const Place& place) const;

 private:
  static constexpr int no_guard = -1;
  using Key = std::vector<std::int64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& k) const;
  };
  struct Range {
    std::int64_t low, high;
  };

  Cell compute(VarId v, const Place& place, int guard);
  Cell elementwise(const Equation& e, const Place& place, int guard);
  void find_sines_and_cosines();
  bool gives_sine_and_cosine(const Equation& e) const;
  Cell movement(const Equation& e, const Place& place, int guard);
  Cell padded(const Equation& e, const Place& place, int guard);
  Cell joined(const Equation& e, const Place& place, int guard);
  Cell updated(const Equation& e, const Place& place, int guard);
  Cell counted(const Equation& e, const Place& place);
  Cell gathered(const Equation& e, const Place& place, int guard);
  Cell reduced(const Equation& e, const Place& place, int guard);
  Cell product(const Equation& e, const Place& place, int guard);
  Place reshaped(const Equation& e, const Place& place) const;
  Cell load(std::size_t input, const Place& place, int guard);
  Cell load_at(std::size_t input, const Affine& from, const Cell& computed, int guard);
  llvm::Value* open_lanes(int guard, int level);
  llvm::Value* load_computed(llvm::Value* base, const Cell& pointer, DType dtype, std::int64_t stride, llvm::Value* offsets, int guard);
  llvm::Value* nowhere();
  void store_fresh(llvm::Value* x, llvm::Value* pointer, DType dtype, std::int64_t stride);
  void store_lanes(llvm::Value* x, llvm::Value* pointer, DType dtype, std::int64_t stride, llvm::Value* mask);
  llvm::Value* load_lanes(llvm::Value* base, const Cell& pointer, DType dtype, std::int64_t stride, int guard);
  /// True for memory that runs along the tile's loop and not along the lanes.
  bool crosses(DType dtype, const Affine& offset) const;
  Cell load_tile(std::size_t input, DType dtype, Affine from);
  Cell number(const Literal& literal);

  Range range(const Affine& a) const;
  Cell integer(const Affine& a);
  /// a >= limit, as a condition; computed only where it is not known.
  Cell at_least(const Affine& a, std::int64_t limit);
  Cell both(const Cell& a, const Cell& b, bool conjunction);
  /// The guard "guard and condition"; `never` where it cannot hold.
  int guarded(int guard, const Cell& condition);
  Cell inside(const Affine& a, std::int64_t low, std::int64_t high);
  /// op(a, b) on the wider of both.
  template <class Op>
  Cell combined(const Cell& a, const Cell& b, Op op) {
    const bool vector = a.vector || b.vector;
    const int level = std::max(a.level, b.level);
    llvm::Value *x = vector ? in_lanes(a) : a.value, *y = vector ? in_lanes(b) : b.value;
    go(level);
    return {op(x, y), vector, level};
  }
  Cell choose(const Cell& condition, const Cell& yes, const Cell& no);
  bool known(const Cell& c, bool value) const;
  void go(int level);
  Cell splat(const Cell& cell);
  int lane_level() const { return nest_.lane + 1; }

  llvm::Module& module_;
  Symbols& symbols_;
  const Program& body_;
  const LoopNest& nest_;
  Frame& frame_;
  llvm::IRBuilder<>& build_;
  std::vector<const Equation*> defined_;  // by variable
  std::vector<std::int64_t> argument_;    // by variable: its pointer, or -1
  std::vector<bool> both_;                // by variable: the body has its sine and its cosine
  std::vector<SineCosines> sine_cosines_;  // by level
  std::vector<std::unordered_map<Key, Cell, KeyHash>> memo_;  // by level
  std::map<std::pair<llvm::Value*, int>, llvm::Value*> splats_;
  std::vector<Cell> guards_;
  std::map<std::pair<int, llvm::Value*>, int> guard_of_;
  std::vector<llvm::Value*> base_;
  llvm::Value* nowhere_ = nullptr;
  std::map<std::vector<std::int64_t>, std::vector<llvm::Value*>> tiles_;  // what load_tile has read, by copy
  std::map<std::vector<std::int64_t>, Cell> addresses_;
  std::map<std::vector<std::int64_t>, Cell> integers_;
};

/// The place of an axis list: loop indices, zeros for axes merged into an inner loop; unrolled axes from `unrolled`.
Place place_of(const std::vector<NestAxis>& axes, std::span<const std::int64_t> unrolled);

}  // namespace anadrome::codegen
