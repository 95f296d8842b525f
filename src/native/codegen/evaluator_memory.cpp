// Evaluator: arguments and results in memory, a vector at a time or in blocks that are transposed.
#include "native/codegen/evaluator.h"

namespace anadrome::codegen {

using llvm::Value;

Affine Evaluator::offset(const Shape& shape, const Place& place) const {
  Affine out;
  for (std::size_t k = 0; k < place.size(); ++k) out = sum(times(out, shape[k]), place[k]);
  return out;
}

Cell Evaluator::address(std::size_t pointer, DType dtype, const Affine& offset) {
  if (!base_[pointer]) {
    go(0);
    Value* table = module_.getFunction(frame_.level_block[0]->getParent()->getName())->getArg(0);
    Value* slot = build_.CreateConstInBoundsGEP1_64(build_.getPtrTy(), table, pointer);
    base_[pointer] = build_.CreateLoad(build_.getPtrTy(), slot);
  }
  llvm::Type* element = memory_type(build_.getContext(), dtype);
  Cell out{base_[pointer], false, 0};
  std::vector<std::int64_t> key{static_cast<std::int64_t>(pointer), static_cast<std::int64_t>(dtype)};
  for (std::size_t d = 0; d < nest_.loops.size(); ++d) {
    if (!offset.coefficient[d]) continue;
    key.push_back(static_cast<std::int64_t>(d));
    key.push_back(offset.coefficient[d]);
    if (const auto it = addresses_.find(key); it != addresses_.end()) {
      out = it->second;
      continue;
    }
    out.level = static_cast<int>(d) + 1;
    go(out.level);
    Value* step = build_.CreateMul(frame_.index[d], build_.getInt64(static_cast<std::uint64_t>(offset.coefficient[d])));
    out.value = build_.CreateGEP(element, out.value, step);
    addresses_[key] = out;
  }
  if (offset.constant == 0) return out;
  go(out.level);
  out.value = build_.CreateGEP(element, out.value, build_.getInt64(static_cast<std::uint64_t>(offset.constant)));
  return out;
}

Cell Evaluator::load(std::size_t input, const Place& place, int guard) {
  const Type& type = body_.type(body_.inputs[input]);
  const Affine from = offset(type.shape, place);
  if (guard == no_guard && crosses(type.dtype, from)) return load_tile(input, type.dtype, from);
  return load_at(input, from, {}, guard);
}

/// The lanes that are there and that the guard lets through; null: all.
Value* Evaluator::open_lanes(int guard, int level) {
  if (guard == no_guard) return frame_.mask;
  Value* open = in_lanes(guards_[static_cast<std::size_t>(guard)]);
  go(level);
  return frame_.mask ? build_.CreateAnd(frame_.mask, open) : open;
}

/// Numbers that lie `stride` apart, one a lane; lanes that are masked out or guarded are not touched.
Value* Evaluator::load_lanes(Value* base, const Cell& pointer, DType dtype, std::int64_t stride, int guard) {
  llvm::Type* element = memory_type(build_.getContext(), dtype);
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(nest_.lanes));
  const llvm::Align align(item_size(dtype));
  Value* mask = open_lanes(guard, pointer.level);
  if (stride == 1 && !mask) return build_.CreateAlignedLoad(type, pointer.value, align);
  if (stride == 1 && item_size(dtype) >= 4) {
    // A masked load of no lanes from memory that is not there gives zeros, but takes 150 ns on AMD processors.
    Value* from = guard == no_guard ? pointer.value : build_.CreateSelect(build_.CreateOrReduce(mask), pointer.value, base);
    return build_.CreateMaskedLoad(type, from, align, mask, llvm::Constant::getNullValue(type));
  }
  Value* x = llvm::PoisonValue::get(type);
  for (int k = 0; k < nest_.lanes; ++k) {
    Value* p = build_.CreateGEP(element, pointer.value, build_.getInt64(static_cast<std::uint64_t>(k * stride)));
    // Lanes that are not there read the first element: a branch for each would cost more, to compile too.
    if (mask) p = build_.CreateSelect(build_.CreateExtractElement(mask, static_cast<std::uint64_t>(k)), p, base);
    x = build_.CreateInsertElement(x, build_.CreateAlignedLoad(element, p, align), static_cast<std::uint64_t>(k));
  }
  return x;
}

/// The element of an argument at `from`, or `computed` (unless empty) elements behind; both may differ from lane to lane.
Cell Evaluator::load_at(std::size_t input, const Affine& from, const Cell& computed, int guard) {
  const DType dtype = body_.type(body_.inputs[input]).dtype;
  llvm::Type* element = memory_type(build_.getContext(), dtype);
  const std::int64_t stride = nest_.lane >= 0 && nest_.lanes > 1 ? from.coefficient[static_cast<std::size_t>(nest_.lane)] : 0;
  const bool vector = computed.vector || stride != 0;
  const Cell open = guard == no_guard ? Cell{} : guards_[static_cast<std::size_t>(guard)];
  Cell pointer = address(input, dtype, from);
  pointer.level = std::max({pointer.level, computed.level, open.level, vector ? lane_level() : 0});
  go(pointer.level);
  if (computed.vector) {
    Value* x = load_computed(base_[input], pointer, dtype, stride, computed.value, guard);
    return {from_memory(build_, x, dtype), true, pointer.level};
  }
  if (computed.value) pointer.value = build_.CreateGEP(element, pointer.value, computed.value);
  if (vector) return {from_memory(build_, load_lanes(base_[input], pointer, dtype, stride, guard), dtype), true, pointer.level};
  if (open.value)
    pointer.value = build_.CreateSelect(open.vector ? build_.CreateOrReduce(open.value) : open.value, pointer.value, base_[input]);
  Value* x = build_.CreateAlignedLoad(element, pointer.value, llvm::Align(item_size(dtype)));
  return {from_memory(build_, x, dtype), false, pointer.level};
}

/// As load_lanes, each lane `offsets` elements further.
Value* Evaluator::load_computed(Value* base, const Cell& pointer, DType dtype, std::int64_t stride, Value* offsets, int guard) {
  llvm::Type* element = memory_type(build_.getContext(), dtype);
  Value* mask = open_lanes(guard, pointer.level);
  Value* x = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, static_cast<unsigned>(nest_.lanes)));
  for (int k = 0; k < nest_.lanes; ++k) {
    const auto lane = static_cast<std::uint64_t>(k);
    Value* offset = build_.CreateExtractElement(offsets, lane);
    if (stride) offset = build_.CreateAdd(offset, build_.getInt64(static_cast<std::uint64_t>(k * stride)));
    Value* place = build_.CreateGEP(element, pointer.value, offset);
    if (mask) place = build_.CreateSelect(build_.CreateExtractElement(mask, lane), place, base);
    x = build_.CreateInsertElement(x, build_.CreateAlignedLoad(element, place, llvm::Align(item_size(dtype))), lane);
  }
  return x;
}

// ---- tiles

bool Evaluator::crosses(DType dtype, const Affine& offset) const {
  if (nest_.tile < 0 || frame_.mask || item_size(dtype) < 4) return false;
  return offset.coefficient[static_cast<std::size_t>(nest_.lane)] > 1 && offset.coefficient[static_cast<std::size_t>(nest_.tile)] == 1;
}

/// Rows of a square block become columns: blocks of 1, 2, 4 ... elements change places across the diagonal.
static void transpose_block(llvm::IRBuilder<>& build, std::vector<Value*>& rows) {
  const int n = static_cast<int>(rows.size());
  for (int block = 1; block < n; block *= 2) {
    std::vector<int> upper, lower;
    for (int k = 0; k < n; ++k) {
      upper.push_back(k & block ? n + k - block : k);
      lower.push_back(k & block ? n + k : k + block);
    }
    for (int i = 0; i < n; ++i) {
      if (i & block) continue;
      Value *&a = rows[static_cast<std::size_t>(i)], *&b = rows[static_cast<std::size_t>(i + block)];
      Value* first = build.CreateShuffleVector(a, b, upper);
      b = build.CreateShuffleVector(a, b, lower);
      a = first;
    }
  }
}

Cell Evaluator::load_tile(std::size_t input, DType dtype, Affine from) {
  from.constant -= frame_.copy;
  const std::int64_t step = from.coefficient[static_cast<std::size_t>(nest_.lane)];
  std::vector<std::int64_t> key{static_cast<std::int64_t>(input), from.constant};
  key.insert(key.end(), from.coefficient.begin(), from.coefficient.end());
  std::vector<Value*>& tile = tiles_[key];
  int level = lane_level();
  if (tile.empty()) {
    auto* type = llvm::FixedVectorType::get(memory_type(build_.getContext(), dtype), static_cast<unsigned>(nest_.lanes));
    for (int l = 0; l < nest_.lanes; ++l, from.constant += step) {
      const Cell pointer = address(input, dtype, from);
      go(level);
      tile.push_back(build_.CreateAlignedLoad(type, pointer.value, llvm::Align(item_size(dtype))));
    }
    transpose_block(build_, tile);
    for (Value*& x : tile) x = from_memory(build_, x, dtype);
  }
  return {tile[static_cast<std::size_t>(frame_.copy)], true, level};
}

bool Evaluator::stores_tiles(std::size_t k, const Place& place) const {
  const Type& type = body_.type(body_.outputs[k]);
  return crosses(type.dtype, offset(type.shape, place));
}

void Evaluator::store_tile(std::size_t k, const Place& place, const std::vector<Cell>& copies) {
  const Type type = body_.type(body_.outputs[k]);
  Affine to = offset(type.shape, place);
  std::vector<Value*> rows;
  for (const Cell& c : copies) rows.push_back(in_lanes(c));
  go(lane_level());
  for (Value*& x : rows) x = to_memory(build_, x, type.dtype);
  transpose_block(build_, rows);
  for (Value* x : rows) {
    const Cell pointer = address(body_.inputs.size() + k, type.dtype, to);
    go(lane_level());
    build_.CreateAlignedStore(x, pointer.value, llvm::Align(item_size(type.dtype)));
    to.constant += to.coefficient[static_cast<std::size_t>(nest_.lane)];
  }
}

/// Where lanes that are not there are written.
Value* Evaluator::nowhere() {
  if (!nowhere_) {
    const auto place = build_.saveIP();
    llvm::BasicBlock* entry = frame_.level_block[0];
    build_.SetInsertPoint(entry, entry->begin());
    nowhere_ = build_.CreateAlloca(build_.getInt64Ty());
    build_.restoreIP(place);
  }
  return nowhere_;
}

void Evaluator::store(std::size_t k, const Place& place, const Cell& cell) {
  const Type type = body_.type(body_.outputs[k]);
  const Affine to = offset(type.shape, place);
  const std::int64_t stride = nest_.lane >= 0 ? to.coefficient[static_cast<std::size_t>(nest_.lane)] : 0;
  Cell pointer = address(body_.inputs.size() + k, type.dtype, to);
  const int level = static_cast<int>(frame_.level_block.size()) - 1;
  const bool lanes = stride != 0 && nest_.lanes > 1;
  Value* x = lanes ? in_lanes(cell) : cell.value;
  go(level);
  x = to_memory(build_, x, type.dtype);
  if (!lanes) build_.CreateAlignedStore(x, pointer.value, llvm::Align(item_size(type.dtype)));
  else if (nest_.stores_once) store_fresh(x, pointer.value, type.dtype, stride);
  else store_lanes(x, pointer.value, type.dtype, stride, frame_.mask);
}

/// Lanes that the mask holds, or all.
void Evaluator::store_lanes(Value* x, Value* pointer, DType dtype, std::int64_t stride, Value* mask) {
  const llvm::Align align(item_size(dtype));
  if (stride == 1 && !mask) {
    build_.CreateAlignedStore(x, pointer, align);
    return;
  }
  if (stride == 1 && item_size(dtype) >= 4) {
    build_.CreateMaskedStore(x, pointer, align, mask);
    return;
  }
  llvm::Type* element = memory_type(build_.getContext(), dtype);
  for (int l = 0; l < nest_.lanes; ++l) {
    Value* p = build_.CreateGEP(element, pointer, build_.getInt64(static_cast<std::uint64_t>(l * stride)));
    if (mask) p = build_.CreateSelect(build_.CreateExtractElement(mask, static_cast<std::uint64_t>(l)), p, nowhere());
    build_.CreateAlignedStore(build_.CreateExtractElement(x, static_cast<std::uint64_t>(l)), p, align);
  }
}

llvm::Constant* Evaluator::lane_numbers(std::int64_t first) {
  std::vector<llvm::Constant*> lanes;
  for (int k = 0; k < nest_.lanes; ++k) lanes.push_back(build_.getInt32(static_cast<std::uint32_t>(first + k)));
  return llvm::ConstantVector::get(lanes);
}

/// Lanes that the vector before did not have: nearly always all of them, which is a store like any other.
void Evaluator::store_fresh(Value* x, Value* pointer, DType dtype, std::int64_t stride) {
  llvm::Function* function = frame_.level_block[0]->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(build_.getContext(), name, function); };
  llvm::BasicBlock *all = block("all"), *some = block("some"), *after = block("stored");
  build_.CreateCondBr(build_.CreateICmpEQ(frame_.again, build_.getInt32(0)), all, some);
  build_.SetInsertPoint(all);
  store_lanes(x, pointer, dtype, stride, nullptr);
  build_.CreateBr(after);
  build_.SetInsertPoint(some);
  Value* before = build_.CreateVectorSplat(static_cast<unsigned>(nest_.lanes), frame_.again);
  store_lanes(x, pointer, dtype, stride, build_.CreateICmpSGE(lane_numbers(frame_.copy), before));
  build_.CreateBr(after);
  build_.SetInsertPoint(after);
  frame_.level_block.back() = after;
}

}  // namespace anadrome::codegen
