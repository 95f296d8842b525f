// emit_kernel: the loops of a nest around the code of a point.
#include "anadrome/error.h"
#include "native/codegen/evaluator.h"
#include "primitives/prims.h"

namespace anadrome::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;

/// Sums longer than this keep float32 totals in float64.
constexpr std::int64_t longest_narrow_sum = 4096;
/// Totals of columns that lie in memory at a time.
constexpr std::int64_t column_bytes = 16384, most_column_vectors = 64;

class Emitter {
 public:
  Emitter(llvm::Module& module, Symbols& symbols, const Program& body, const LoopNest& nest, const std::string& name)
      : module_(module), body_(body), nest_(nest), build_(module.getContext()),
        function_(declare_kernel(module, name)), evaluator_(module, symbols, body, nest, frame_, build_) {
    frame_.level_block.push_back(BasicBlock::Create(module.getContext(), "entry", function_));
    frame_.index.resize(nest.loops.size());
    for (std::size_t k = 0; k < nest.roots.size(); ++k) find_elements(k);
  }

  void run() {
    here(block());
    loops(0);
    build_.CreateRetVoid();
  }

 private:
  /// One value of a result at a point: unrolled axes give several.
  struct Element {
    std::size_t root;
    Place place;   // of the value
    Place result;  // of the result
    DType dtype;
  };
  using Totals = std::vector<Value*>;  // by element of the sums

  void find_elements(std::size_t k) {
    const NestRoot& r = nest_.roots[k];
    std::vector<std::int64_t> extents;
    for (const NestAxis& a : r.axes)
      if (a.loop == NestAxis::unrolled) extents.push_back(a.extent);
    std::vector<std::int64_t> at(extents.size());
    for (bool more = true; more;) {
      Element e{k, place_of(r.axes, at), {}, body_.type(r.value).dtype};
      for (int axis : r.kept) e.result.push_back(e.place[static_cast<std::size_t>(axis)]);
      (r.reduction ? sums_ : stores_).push_back(std::move(e));
      more = false;
      for (std::size_t i = at.size(); i-- > 0 && !more;) {
        more = ++at[i] < extents[i];
        if (!more) at[i] = 0;
      }
    }
  }

  // ---- blocks

  BasicBlock* block() const { return frame_.level_block.back(); }
  void here(BasicBlock* b) { build_.SetInsertPoint(b); }
  BasicBlock* new_block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }
  Value* integer(std::int64_t v) { return build_.getInt64(static_cast<std::uint64_t>(v)); }
  int depth_count() const { return static_cast<int>(nest_.loops.size()); }
  Value* first(int d) { return d == nest_.ranged() ? static_cast<Value*>(function_->getArg(1)) : integer(0); }
  Value* last(int d) {
    return d == nest_.ranged() ? static_cast<Value*>(function_->getArg(2)) : integer(nest_.loops[static_cast<std::size_t>(d)].extent);
  }

  /// Writes a loop of index d over [from, to) in steps, if there is a step to do; `body` gives new totals.
  template <class Body>
  Totals loop(int d, Value* from, Value* to, std::int64_t step, const Totals& totals, Body body) {
    BasicBlock *before = build_.GetInsertBlock(), *head = new_block("loop"), *after = new_block("after");
    auto* constant_from = llvm::dyn_cast<llvm::ConstantInt>(from);
    auto* constant_to = llvm::dyn_cast<llvm::ConstantInt>(to);
    const bool certain = d != nest_.ranged() && constant_from && constant_to;
    if (certain && constant_from->getSExtValue() >= constant_to->getSExtValue()) {
      head->eraseFromParent();
      after->eraseFromParent();
      return totals;
    }
    if (certain) build_.CreateBr(head);
    else build_.CreateCondBr(build_.CreateICmpSLT(from, to), head, after);
    here(head);
    llvm::PHINode* index = build_.CreatePHI(build_.getInt64Ty(), 2);
    index->addIncoming(from, before);
    std::vector<llvm::PHINode*> phis;
    for (Value* t : totals) {
      phis.push_back(build_.CreatePHI(t->getType(), 2));
      phis.back()->addIncoming(t, before);
    }
    frame_.index[static_cast<std::size_t>(d)] = index;
    frame_.level_block.push_back(head);
    if (nest_.overlaps && (d == nest_.lane || d == nest_.tile)) start_earlier(d, index);
    const Totals next = body(Totals(phis.begin(), phis.end()));
    Value* stepped = build_.CreateAdd(index, integer(step));
    BasicBlock* end = build_.GetInsertBlock();
    build_.CreateCondBr(build_.CreateICmpSLT(stepped, to), head, after);
    index->addIncoming(stepped, end);
    for (std::size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], end);
    frame_.level_block.pop_back();
    evaluator_.leave(d);
    here(after);
    return merged(totals, next, before, end, certain);
  }
  /// Sets the index, or that of the last whole vector if that comes before; and which lanes have not been there yet.
  void start_earlier(int d, Value* index) {
    Value* whole = integer(nest_.loops[static_cast<std::size_t>(d)].extent - nest_.lanes * nest_.copies);
    Value* from = build_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, whole);
    frame_.index[static_cast<std::size_t>(d)] = from;
    if (!reduced(d) && !nest_.stores_once) return;
    Value* again = frame_.again = build_.CreateTrunc(build_.CreateSub(index, from), build_.getInt32Ty());
    fresh_ = build_.CreateICmpSGE(evaluator_.lane_numbers(), build_.CreateVectorSplat(static_cast<unsigned>(nest_.lanes), again));
  }
  /// Totals behind a loop that may not have run.
  Totals merged(const Totals& skipped, const Totals& done, BasicBlock* before, BasicBlock* end, bool certain) {
    if (certain) return done;
    Totals out;
    for (std::size_t k = 0; k < done.size(); ++k) {
      llvm::PHINode* phi = build_.CreatePHI(done[k]->getType(), 2);
      phi->addIncoming(skipped[k], before);
      phi->addIncoming(done[k], end);
      out.push_back(phi);
    }
    return out;
  }
  /// Writes the code for the lanes from `from` on that are left before `to`: none, or fewer than a vector.
  template <class Body>
  Totals tail(int d, Value* from, Value* to, const Totals& totals, Body body) {
    BasicBlock *before = build_.GetInsertBlock(), *some = new_block("tail"), *after = new_block("after");
    build_.CreateCondBr(build_.CreateICmpSLT(from, to), some, after);
    here(some);
    frame_.index[static_cast<std::size_t>(d)] = from;
    frame_.level_block.push_back(some);
    frame_.remaining = build_.CreateTrunc(build_.CreateSub(to, from), build_.getInt32Ty());
    frame_.mask = build_.CreateICmpSLT(evaluator_.lane_numbers(),
                                       build_.CreateVectorSplat(static_cast<unsigned>(nest_.lanes), frame_.remaining));
    const Totals next = body(totals);
    frame_.mask = nullptr;
    BasicBlock* end = build_.GetInsertBlock();
    build_.CreateBr(after);
    frame_.level_block.pop_back();
    evaluator_.leave(d);
    here(after);
    return merged(totals, next, before, end, false);
  }

  // ---- the nest

  bool reduced(int d) const { return nest_.loops[static_cast<std::size_t>(d)].reduced; }

  void loops(int d) {
    if (d == depth_count()) return nest_.tile >= 0 ? tile_stores() : nest_.copies > 1 ? chain_stores() : point_stores();
    if (reduced(d)) return nest_.lanes_inside_sums ? column_sums(d) : sums(d);
    if (d != nest_.lane || nest_.lanes == 1) {
      loop(d, first(d), last(d), d == nest_.tile ? nest_.lanes : 1, {}, [&](const Totals&) { return loops(d + 1), Totals(); });
      return;
    }
    const auto inner = [&](const Totals&) { return loops(d + 1), Totals(); };
    if (nest_.overlaps || !has_tail(d, nest_.lanes)) {
      loop(d, first(d), last(d), nest_.lanes * nest_.copies, {}, inner);
      return;
    }
    Value* whole = whole_vectors(d, nest_.lanes);
    loop(d, first(d), whole, nest_.lanes, {}, inner);
    tail(d, whole, last(d), {}, inner);
  }
  /// Ranges of the outermost loop end at multiples of a step, or at the end of the loop.
  bool has_tail(int d, std::int64_t step) const { return nest_.loops[static_cast<std::size_t>(d)].extent % step != 0; }

  /// The end of the part of loop d that is done in steps of `step`.
  Value* whole_vectors(int d, std::int64_t step) {
    if (d != nest_.ranged()) return integer(nest_.loops[static_cast<std::size_t>(d)].extent / step * step);
    return whole_steps(first(d), last(d), step);
  }
  /// The end of the whole steps from `from` to `to`.
  Value* whole_steps(Value* from, Value* to, std::int64_t step) {
    Value* count = build_.CreateSub(to, from);
    return build_.CreateAdd(from, build_.CreateMul(build_.CreateSDiv(count, integer(step)), integer(step)));
  }

  Cell value_of(const Element& e, std::int64_t shift, int loop) {
    return evaluator_.at(Atom::variable(nest_.roots[e.root].value), shift ? shifted(e.place, shift, loop) : e.place);
  }
  /// Everything is computed before anything is written: a result may lie over an argument.
  void point_stores(std::int64_t shift = 0, int loop = 0) {
    std::vector<Cell> values;
    for (const Element& e : stores_) values.push_back(value_of(e, shift, loop));
    for (std::size_t k = 0; k < stores_.size(); ++k)
      evaluator_.store(stores_[k].root, shift ? shifted(stores_[k].result, shift, loop) : stores_[k].result, values[k]);
    here_at_end();
  }
  /// The points of a tile: a copy of the body for each of its indices.
  void tile_stores() {
    std::vector<std::vector<Cell>> values(stores_.size());
    for (frame_.copy = 0; frame_.copy < nest_.lanes; ++frame_.copy)
      for (std::size_t k = 0; k < stores_.size(); ++k) values[k].push_back(value_of(stores_[k], frame_.copy, nest_.tile));
    for (std::size_t k = 0; k < stores_.size(); ++k) {
      const Element& e = stores_[k];
      if (evaluator_.stores_tiles(e.root, e.result)) evaluator_.store_tile(e.root, e.result, values[k]);
      else
        for (std::size_t u = 0; u < values[k].size(); ++u)
          evaluator_.store(e.root, shifted(e.result, static_cast<std::int64_t>(u), nest_.tile), values[k][u]);
    }
    frame_.copy = 0;
    here_at_end();
  }
  /// Copies of the body side by side, equation by equation: while one copy waits the other is computed.
  void chain_stores() {
    const Place& here = stores_[0].place;
    const Shape& shape = body_.type(nest_.roots[stores_[0].root].value).shape;
    for (const Equation& e : body_.equations)
      if (body_.type(e.results[0]).shape == shape && !evaluator_.comes_with_sine(e))
        for (int u = 0; u < nest_.copies; ++u)
          evaluator_.at(Atom::variable(e.results[0]), shifted(here, u * nest_.lanes, nest_.lane));
    for (int u = 0; u < nest_.copies; ++u) {
      frame_.copy = u * nest_.lanes;
      point_stores(u * nest_.lanes, nest_.lane);
    }
    frame_.copy = 0;
  }
  static Place shifted(Place place, std::int64_t shift, int loop) {
    for (Affine& a : place) a.constant += shift * a.coefficient[static_cast<std::size_t>(loop)];
    return place;
  }
  void here_at_end() { build_.SetInsertPoint(block()); }

  // ---- sums

  const Prim& reduction(const Element& e) const { return *nest_.roots[e.root].reduction->prim; }
  bool lanes_are_summed() const { return nest_.lane >= 0 && nest_.lanes > 1 && reduced(nest_.lane); }
  bool lanes_are_kept() const { return nest_.lane >= 0 && nest_.lanes > 1 && !reduced(nest_.lane); }

  /// The dtype of a running total.
  DType total_dtype(const Element& e) const {
    if (e.dtype != DType::f32 && e.dtype != DType::bf16 && e.dtype != DType::f16) return e.dtype;
    std::int64_t terms = 1;
    for (int d = 0; d < depth_count(); ++d)
      if (reduced(d)) terms *= nest_.loops[static_cast<std::size_t>(d)].extent;
    if (lanes_are_summed()) terms /= nest_.lanes;
    const bool sum = &reduction(e) == &prim::reduce_sum;
    return sum && terms / (nest_.unroll * nest_.blocks) > longest_narrow_sum ? DType::f64 : e.dtype;
  }
  llvm::Type* total_type(const Element& e) {
    llvm::Type* scalar = compute_type(module_.getContext(), total_dtype(e));
    const bool vector = lanes_are_summed() || lanes_are_kept();
    return vector ? llvm::FixedVectorType::get(scalar, static_cast<unsigned>(nest_.lanes)) : scalar;
  }

  /// Sums from loop d on, then writes them.
  void sums(int d) {
    const auto sets = static_cast<std::size_t>(nest_.unroll);
    Totals totals;
    for (std::size_t u = 0; u < sets; ++u)
      for (const Element& e : sums_) totals.push_back(reduction_identity(reduction(e), total_dtype(e), total_type(e)));
    totals = sum_loops(d, totals);
    here_at_end_of(build_.GetInsertBlock());
    for (std::size_t k = 0; k < sums_.size(); ++k) finish_sum(sums_[k], combined(k, totals));
  }
  void here_at_end_of(BasicBlock* b) {
    frame_.level_block.back() = b;  // what follows is computed behind the loops
    here(b);
  }
  /// The totals of all copies of the body, added in a tree.
  Value* combined(std::size_t k, const Totals& totals) {
    std::vector<Value*> parts;
    for (std::size_t u = k; u < totals.size(); u += sums_.size()) parts.push_back(totals[u]);
    while (parts.size() > 1) {
      for (std::size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = emit_combine(build_, reduction(sums_[k]), total_dtype(sums_[k]), parts[2 * i], parts[2 * i + 1]);
      parts.resize(parts.size() / 2);
    }
    return parts[0];
  }
  void finish_sum(const Element& e, Value* total) {
    if (lanes_are_summed())
      for (int half = nest_.lanes / 2; half; half /= 2) {
        std::vector<int> low, high;
        for (int k = 0; k < half; ++k) low.push_back(k), high.push_back(k + half);
        total = emit_combine(build_, reduction(e), total_dtype(e), build_.CreateShuffleVector(total, low),
                             build_.CreateShuffleVector(total, high));
      }
    if (lanes_are_summed()) total = build_.CreateExtractElement(total, std::uint64_t{0});
    if (total_dtype(e) != e.dtype) total = emit_convert(build_, total, total_dtype(e), e.dtype);
    const int level = static_cast<int>(frame_.level_block.size()) - 1;
    evaluator_.store(e.root, e.result, {total, lanes_are_kept(), level});
    here_at_end();
  }

  Totals sum_loops(int d, const Totals& totals) {
    if (d + 1 < depth_count())
      return loop(d, first(d), last(d), 1, totals, [&](const Totals& t) { return sum_loops(d + 1, t); });
    const std::int64_t lanes = lanes_are_summed() ? nest_.lanes : 1;
    const std::int64_t copies = nest_.unroll;
    if (nest_.overlaps && d == nest_.lane)
      return loop(d, first(d), last(d), lanes, totals, [&](const Totals& t) { return add_points(t, 1, lanes, d); });
    Value* many = has_tail(d, lanes * copies) ? whole_vectors(d, lanes * copies) : last(d);
    Totals out = loop(d, first(d), many, lanes * copies, totals, [&](const Totals& t) { return add_points(t, copies, lanes, d); });
    if (copies > 1 && has_tail(d, lanes * copies)) {
      Value* whole = has_tail(d, lanes) ? whole_vectors(d, lanes) : last(d);
      out = loop(d, many, whole, lanes, out, [&](const Totals& t) { return add_points(t, 1, lanes, d); });
      many = whole;
    }
    if (lanes > 1 && has_tail(d, lanes))
      out = tail(d, many, last(d), out, [&](const Totals& t) { return add_points(t, 1, lanes, d); });
    return out;
  }
  /// One step: `copies` points along loop d, each added to totals of its own.
  Totals add_points(Totals totals, std::int64_t copies, std::int64_t lanes, int d) {
    for (std::int64_t u = 0; u < copies; ++u) {
      std::vector<Cell> values;
      for (const Element& e : sums_) values.push_back(value_of(e, u * lanes, d));
      point_stores(u * lanes, d);
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        Value*& total = totals[static_cast<std::size_t>(u) * sums_.size() + k];
        total = added(sums_[k], total, values[k]);
      }
    }
    return totals;
  }
  Value* added(const Element& e, Value* total, const Cell& cell) {
    const bool vector = lanes_are_summed() || lanes_are_kept();
    Value* x = vector ? evaluator_.in_lanes(cell) : cell.value;
    here_at_end();
    if (total_dtype(e) != e.dtype) x = emit_convert(build_, x, e.dtype, total_dtype(e));
    Value* sum = emit_combine(build_, reduction(e), total_dtype(e), total, x);
    Value* counted = !lanes_are_summed() ? nullptr : nest_.overlaps ? fresh_ : frame_.mask;
    return counted ? build_.CreateSelect(counted, sum, total) : sum;
  }

  // ---- sums of columns: the lanes run inside what is summed

  /// Some columns at a time: their totals are set to zero, the rows are added, the totals are written.
  void column_sums(int d) {
    const int lane = nest_.lane;
    const std::int64_t count = columns_at_once();
    const std::vector<Value*> totals = column_memory(count);
    Value *from = first(lane), *to = last(lane);
    BasicBlock *before = build_.GetInsertBlock(), *head = new_block("columns"), *after = new_block("after");
    build_.CreateCondBr(build_.CreateICmpSLT(from, to), head, after);
    here(head);
    llvm::PHINode* begin = build_.CreatePHI(build_.getInt64Ty(), 2);
    begin->addIncoming(from, before);
    Value* next = build_.CreateAdd(begin, integer(count));
    Value* end = build_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, to);
    columns(begin, end, [&] {
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        const Element& e = sums_[k];
        build_.CreateStore(reduction_identity(reduction(e), total_dtype(e), total_type(e)), total_at(totals, k, begin));
      }
    });
    add_rows(d, begin, end, totals);
    columns(begin, end, [&] {
      for (std::size_t k = 0; k < sums_.size(); ++k)
        finish_sum(sums_[k], build_.CreateLoad(total_type(sums_[k]), total_at(totals, k, begin)));
    });
    begin->addIncoming(next, build_.GetInsertBlock());
    build_.CreateCondBr(build_.CreateICmpSLT(next, to), head, after);
    here_at_end_of(after);
  }
  void add_rows(int d, Value* begin, Value* end, const std::vector<Value*>& totals) {
    if (d < nest_.lane) {
      loop(d, first(d), last(d), d == nest_.tile ? nest_.lanes : 1, {}, [&](const Totals&) { return add_rows(d + 1, begin, end, totals), Totals(); });
      return;
    }
    columns(begin, end, [&] {
      std::vector<Cell> values;
      for (const Element& e : sums_) values.push_back(value_of(e, 0, d));
      point_stores();
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        Value* at = total_at(totals, k, begin);
        Value* total = build_.CreateLoad(total_type(sums_[k]), at);
        build_.CreateStore(added(sums_[k], total, values[k]), at);
      }
    });
  }
  /// The lane loop from `begin` to `end`, wherever it is needed: reduced loops that are not open count as open.
  template <class Body>
  void columns(Value* begin, Value* end, Body body) {
    const int lane = nest_.lane;
    const std::size_t open = frame_.level_block.size();
    frame_.level_block.resize(static_cast<std::size_t>(lane) + 1, build_.GetInsertBlock());
    const auto inner = [&](const Totals&) { return body(), Totals(); };
    Value* whole = has_tail(lane, nest_.lanes) ? whole_steps(begin, end, nest_.lanes) : end;
    loop(lane, begin, whole, nest_.lanes, {}, inner);
    if (has_tail(lane, nest_.lanes)) tail(lane, whole, end, {}, inner);
    frame_.level_block.resize(open);
  }
  std::int64_t columns_at_once() {
    std::int64_t bytes = 0;
    for (const Element& e : sums_) bytes += static_cast<std::int64_t>(item_size(total_dtype(e)));
    const std::int64_t lanes = nest_.lanes, extent = nest_.loops[static_cast<std::size_t>(nest_.lane)].extent;
    return std::min(std::clamp<std::int64_t>(column_bytes / bytes / lanes, 1, most_column_vectors), (extent + lanes - 1) / lanes) * lanes;
  }
  /// Memory of the totals, by element of the sums.
  std::vector<Value*> column_memory(std::int64_t count) {
    std::vector<Value*> out;
    const auto place = build_.saveIP();
    BasicBlock* entry = frame_.level_block[0];
    build_.SetInsertPoint(entry, entry->begin());
    for (const Element& e : sums_) {
      auto* memory = build_.CreateAlloca(llvm::ArrayType::get(compute_type(module_.getContext(), total_dtype(e)), static_cast<std::uint64_t>(count)));
      memory->setAlignment(llvm::Align(64));
      out.push_back(memory);
    }
    build_.restoreIP(place);
    return out;
  }
  Value* total_at(const std::vector<Value*>& totals, std::size_t k, Value* begin) {
    here_at_end();
    Value* column = build_.CreateSub(frame_.index[static_cast<std::size_t>(nest_.lane)], begin);
    return build_.CreateGEP(compute_type(module_.getContext(), total_dtype(sums_[k])), totals[k], column);
  }

  llvm::Module& module_;
  const Program& body_;
  const LoopNest& nest_;
  llvm::IRBuilder<> build_;
  llvm::Function* function_;
  Frame frame_;
  Evaluator evaluator_;
  std::vector<Element> stores_, sums_;
  Value* fresh_ = nullptr;  // lanes that the last whole vector has not in common with the one before
};

}  // namespace

llvm::Function* declare_kernel(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0), *integer = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, integer, integer}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  f->setDoesNotThrow();
  const std::string bits = std::to_string(8 * 64);
  f->addFnAttr("prefer-vector-width", bits);
  f->addFnAttr("min-legal-vector-width", bits);
  return f;
}

void emit_kernel(llvm::Module& module, Symbols& symbols, const Program& body, const LoopNest& nest,
                 const std::string& name) {
  Emitter(module, symbols, body, nest, name).run();
}

}  // namespace anadrome::codegen
