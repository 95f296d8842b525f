// emit_step_loop: all steps of a loop around the code of one, for a few vectors at a time; carries are phis.
#include <llvm/IR/MDBuilder.h>

#include "native/codegen/context.h"
#include "native/emittable.h"
#include "primitives/prims.h"

namespace anadrome::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using Parts = std::vector<Value*>;  // of a value: one, a number, or one a vector

class StepLoopEmitter {
 public:
  StepLoopEmitter(llvm::Module& module, Symbols& symbols, const Program& program, const StepLoop& loop, const std::string& name)
      : module_(module), symbols_(symbols), scan_(program.equations[0].as<ScanAttr>()), body_(*scan_.body.program), loop_(loop),
        build_(module.getContext()), function_(declare_kernel(module, name)), values_(body_.types.size()),
        sine_(body_.types.size()), cosine_(body_.types.size()) {
    for (const Equation& e : body_.equations) {
      if (!is_angle(e)) continue;
      (e.prim == &prim::sin ? sine_ : cosine_)[e.operands[0].var] = &e;
    }
  }

  void run() {
    here(new_block("entry"));
    for (std::size_t p = 0; p < body_.inputs.size() + body_.outputs.size(); ++p) {
      Value* slot = build_.CreateConstInBoundsGEP1_64(build_.getPtrTy(), function_->getArg(0), p);
      base_.push_back(build_.CreateLoad(build_.getPtrTy(), slot));
    }
    if (loop_.groups > 1) groups();
    else group();
    build_.CreateRetVoid();
  }

 private:
  // ---- blocks

  BasicBlock* new_block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }
  void here(BasicBlock* b) { build_.SetInsertPoint(b); }
  Value* integer(std::int64_t v) { return build_.getInt64(static_cast<std::uint64_t>(v)); }
  std::size_t consts() const { return static_cast<std::size_t>(scan_.consts); }
  std::size_t carries() const { return static_cast<std::size_t>(scan_.carries); }

  /// The elements in turn; the last group begins early enough to be whole.
  void groups() {
    const std::int64_t size = loop_.vectors * loop_.lanes;
    BasicBlock *before = build_.GetInsertBlock(), *head = new_block("group"), *after = new_block("after");
    build_.CreateBr(head);
    here(head);
    llvm::PHINode* k = build_.CreatePHI(build_.getInt64Ty(), 2);
    k->addIncoming(integer(0), before);
    first_ = build_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, build_.CreateMul(k, integer(size)), integer(loop_.elements - size));
    group();
    Value* next = build_.CreateAdd(k, integer(1));
    k->addIncoming(next, build_.GetInsertBlock());
    build_.CreateCondBr(build_.CreateICmpSLT(next, integer(loop_.groups)), head, after);
    here(after);
  }

  /// Some vectors through all steps.
  void group() {
    before_ = build_.GetInsertBlock();
    splats_.clear();
    for (std::size_t i = 0; i < consts() + carries(); ++i) values_[body_.inputs[i]] = loaded(i, nullptr);
    std::vector<Parts> start;
    for (std::size_t k = 0; k < carries(); ++k) start.push_back(values_[body_.inputs[consts() + k]]);
    BasicBlock *head = new_block("step"), *after = new_block("done");
    Value* length = function_->getArg(2);
    build_.CreateCondBr(build_.CreateICmpSGT(length, integer(0)), head, after);
    here(head);
    llvm::PHINode* step = build_.CreatePHI(build_.getInt64Ty(), 2);
    step->addIncoming(integer(0), before_);
    std::vector<llvm::PHINode*> phis;
    for (std::size_t k = 0; k < carries(); ++k) values_[body_.inputs[consts() + k]] = with_phis(start[k], phis);
    const std::vector<Parts> end = steps(scan_.reverse ? build_.CreateSub(build_.CreateSub(length, integer(1)), step) : step);
    Value* next = build_.CreateAdd(step, integer(1));
    BasicBlock* last = build_.GetInsertBlock();
    step->addIncoming(next, last);
    std::size_t phi = 0;
    for (const Parts& parts : end)
      for (Value* v : parts) phis[phi++]->addIncoming(v, last);
    build_.CreateCondBr(build_.CreateICmpSLT(next, length), head, after);
    here(after);
    std::vector<Parts> results;
    for (std::size_t k = 0; k < carries(); ++k) results.push_back(merged(start[k], end[k], last));
    for (std::size_t k = 0; k < carries(); ++k) store(k, results[k], nullptr);
  }
  Parts with_phis(const Parts& start, std::vector<llvm::PHINode*>& phis) {
    Parts out;
    for (Value* v : start) {
      phis.push_back(build_.CreatePHI(v->getType(), 2));
      phis.back()->addIncoming(v, before_);
      out.push_back(phis.back());
    }
    return out;
  }
  Parts merged(const Parts& start, const Parts& end, BasicBlock* last) {
    Parts out;
    for (std::size_t c = 0; c < start.size(); ++c) {
      llvm::PHINode* phi = build_.CreatePHI(start[c]->getType(), 2);
      phi->addIncoming(start[c], before_);
      phi->addIncoming(end[c], last);
      out.push_back(phi);
    }
    return out;
  }

  /// The code of step `at`; gives the new carries.
  std::vector<Parts> steps(Value* at) {
    for (std::size_t i = consts() + carries(); i < body_.inputs.size(); ++i) values_[body_.inputs[i]] = loaded(i, at);
    for (const Equation& e : body_.equations) equation(e);
    flush();
    for (std::size_t k = carries(); k < body_.outputs.size(); ++k) store(k, parts_of(body_.outputs[k]), at);
    std::vector<Parts> out;
    for (std::size_t k = 0; k < carries(); ++k) out.push_back(parts_of(body_.outputs[k]));
    return out;
  }

  // ---- memory

  bool is_vector(const Type& type) const { return loop_.elements > 1 && type.elements() > 1; }
  std::size_t parts(const Type& type) const { return is_vector(type) ? static_cast<std::size_t>(loop_.vectors) : 1; }

  /// The address of part c of pointer p, in step `at` where that is set.
  Value* address(std::size_t p, const Type& type, std::size_t c, Value* at) {
    Value* offset = integer(0);
    if (is_vector(type)) {
      const std::int64_t from = static_cast<std::int64_t>(c) * loop_.lanes;
      offset = first_ ? build_.CreateAdd(first_, integer(from)) : integer(std::min(from, loop_.elements - loop_.lanes));
    }
    if (at) offset = build_.CreateAdd(build_.CreateMul(at, integer(type.elements())), offset);
    return build_.CreateGEP(memory_type(module_.getContext(), type.dtype), base_[p], offset);
  }
  Parts loaded(std::size_t input, Value* at) {
    const Type type = body_.type(body_.inputs[input]);
    llvm::Type* memory = memory_type(module_.getContext(), type.dtype);
    if (is_vector(type)) memory = llvm::FixedVectorType::get(memory, static_cast<unsigned>(loop_.lanes));
    Parts out;
    for (std::size_t c = 0; c < parts(type); ++c) {
      Value* x = build_.CreateAlignedLoad(memory, address(input, type, c, at), llvm::Align(item_size(type.dtype)));
      out.push_back(from_memory(build_, x, type.dtype));
    }
    return out;
  }
  void store(std::size_t output, const Parts& values, Value* at) {
    const Type type = body_.type(body_.outputs[output]);
    for (std::size_t c = 0; c < values.size(); ++c) {
      Value* x = to_memory(build_, values[c], type.dtype);
      build_.CreateAlignedStore(x, address(body_.inputs.size() + output, type, c, at), llvm::Align(item_size(type.dtype)));
    }
  }

  // ---- values

  Value* number(const Literal& l) {
    llvm::Type* type = compute_type(module_.getContext(), l.dtype);
    if (is_float(l.dtype)) return llvm::ConstantFP::get(type, l.as_double());
    return llvm::ConstantInt::getSigned(type, l.dtype == DType::b1 ? -(l.as_double() != 0) : l.as_integer());
  }
  Parts parts_of(const Atom& a) { return a.is_var() ? values_[a.var] : Parts{number(a.literal)}; }
  /// Part c of an operand, a number in every lane where vectors are asked for.
  Value* part(const Atom& a, std::size_t c, bool vector) {
    if (a.is_var() && is_vector(body_.type(a.var))) return values_[a.var][c];
    Value* x = a.is_var() ? values_[a.var][0] : number(a.literal);
    return vector && loop_.lanes > 1 ? splat(x) : x;
  }
  /// What does not change from step to step is repeated before them.
  Value* splat(Value* x) {
    const auto lanes = static_cast<unsigned>(loop_.lanes);
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(x)) return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), constant);
    Value*& out = splats_[x];
    if (out) return out;
    const llvm::IRBuilder<>::InsertPointGuard guard(build_);
    auto* made = llvm::cast<llvm::Instruction>(x);
    if (made->getParent() == before_) build_.SetInsertPoint(before_->getTerminator());
    else if (llvm::isa<llvm::PHINode>(made)) build_.SetInsertPoint(made->getParent(), made->getParent()->getFirstInsertionPt());
    else build_.SetInsertPoint(made->getParent(), std::next(made->getIterator()));
    return out = build_.CreateVectorSplat(lanes, x);
  }

  // ---- equations

  /// Numbers at once; vectors when a stretch of them ends, one vector after the other: fewer values wait in registers.
  void equation(const Equation& e) {
    const bool vector = is_vector(body_.type(e.results[0]));
    if (is_angle(e)) {
      if (vector) flush();
      if (came_with_the_other(e)) return;
      return angle(e);
    }
    if (vector) pending_.push_back(&e);
    else values_[e.results[0]] = {computed(e, 0, false)};
  }
  void flush() {
    for (const Equation* e : pending_) values_[e->results[0]].clear();
    for (int c = 0; c < loop_.vectors; ++c)
      for (const Equation* e : pending_) values_[e->results[0]].push_back(computed(*e, static_cast<std::size_t>(c), true));
    pending_.clear();
  }
  Value* computed(const Equation& e, std::size_t c, bool vector, SineCosines* both = nullptr) {
    if (e.prim == &prim::reshape || e.prim == &prim::broadcast_in_dim || e.prim == &prim::stop_gradient)
      return part(e.operands[0], c, vector);
    std::vector<Value*> x;
    for (const Atom& a : e.operands) x.push_back(part(a, c, vector));
    return emit_elementwise({build_, module_, symbols_, body_, e, vector ? loop_.lanes : 1, both}, x);
  }

  // ---- sines and cosines

  /// Written here: a call in every step would wait for the one before it.
  bool is_angle(const Equation& e) const {
    if ((e.prim != &prim::sin && e.prim != &prim::cos) || !e.operands[0].is_var()) return false;
    return body_.type(e.results[0]).dtype != DType::f64 && has_sine_cosine(DType::f32);
  }
  /// True for the second one of sine and cosine of the same angle, which came with the first.
  bool came_with_the_other(const Equation& e) const {
    const VarId x = e.operands[0].var;
    const Equation *s = sine_[x], *c = cosine_[x];
    if (!s || !c) return false;
    return s < c ? &e == c : &e == s;
  }
  struct Angles {
    Parts sines, cosines;  // those that are not wanted are empty
  };

  /// The ways of computing sines and cosines, of which a loop mostly goes one: for tiny angles, for those near zero, for
  /// those that are reduced first, and for all others.
  class Ways {
   public:
    Ways(StepLoopEmitter& emitter, Value* size) : emitter_(emitter), size_(size), merge_(emitter.new_block("angles")) {}
    /// Up to `limit`, as bits, these values.
    template <class Make>
    void up_to(std::uint32_t limit, Make make, bool mostly = false) {
      BasicBlock *here = emitter_.new_block("way"), *other = emitter_.new_block("other");
      llvm::MDBuilder weights(emitter_.module_.getContext());
      emitter_.build_.CreateCondBr(emitter_.above(size_, limit), other, here, mostly ? weights.createBranchWeights(1, 2000) : nullptr);
      emitter_.here(here);
      always(make());
      emitter_.here(other);
    }
    void always(Angles values) {
      ways_.emplace_back(emitter_.build_.GetInsertBlock(), std::move(values));
      emitter_.build_.CreateBr(merge_);
    }
    Angles joined() {
      emitter_.here(merge_);
      return {joined(&Angles::sines), joined(&Angles::cosines)};
    }

   private:
    Parts joined(Parts Angles::*which) {
      Parts out;
      for (std::size_t k = 0; k < (ways_[0].second.*which).size(); ++k) {
        llvm::Type* type = (ways_[0].second.*which)[k]->getType();
        llvm::PHINode* phi = emitter_.build_.CreatePHI(type, static_cast<unsigned>(ways_.size()));
        for (const auto& [block, values] : ways_) phi->addIncoming((values.*which)[k], block);
        out.push_back(phi);
      }
      return out;
    }

    StepLoopEmitter& emitter_;
    Value* size_;
    BasicBlock* merge_;
    std::vector<std::pair<BasicBlock*, Angles>> ways_;
  };

  void angle(const Equation& e) {
    const VarId x = e.operands[0].var;
    const Equation *s = sine_[x], *c = cosine_[x];
    const auto wanted = !c ? Angle::sine : !s ? Angle::cosine : Angle::both;
    const Parts angles = values_[x];
    const bool number = !is_vector(body_.type(x));
    Ways ways(*this, largest(angles));
    if (wanted != Angle::cosine) {
      const Parts ones(c ? angles.size() : 0, llvm::ConstantFP::get(angles[0]->getType(), 1));
      ways.up_to(Angle::tiny(wanted), [&] { return Angles{angles, ones}; });
      ways.up_to(Angle::near(wanted), [&] { return written(wanted, angles, false); }, !number);
    }
    // A call takes little beside the arithmetic of vectors, and less code.
    if (number || wanted == Angle::cosine) ways.up_to(Angle::far(), [&] { return written(wanted, angles, true); }, true);
    ways.always(called(s, c, angles.size()));
    Angles all = ways.joined();
    for (Parts* p : {&all.sines, &all.cosines})
      for (Value*& v : *p) v = rounded(build_, v, body_.type(x).dtype);
    if (s) values_[s->results[0]] = std::move(all.sines);
    if (c) values_[c->results[0]] = std::move(all.cosines);
  }
  Angles written(Angle::Wanted wanted, const Parts& angles, bool reduced) {
    Angles out;
    for (Value* x : angles) {
      const auto [sine, cosine] = Angle::emit(build_, wanted, x, reduced);
      if (sine) out.sines.push_back(sine);
      if (cosine) out.cosines.push_back(cosine);
    }
    return out;
  }
  Angles called(const Equation* s, const Equation* c, std::size_t count) {
    Angles out;
    const bool vector = is_vector(body_.type((s ? s : c)->results[0]));
    for (std::size_t k = 0; k < count; ++k) {
      SineCosines both;
      if (s) out.sines.push_back(computed(*s, k, vector, c ? &both : nullptr));
      if (c) out.cosines.push_back(computed(*c, k, vector, s ? &both : nullptr));
    }
    return out;
  }
  /// The bits of the largest |x| of all lanes and parts; NaN is larger than anything.
  Value* largest(const Parts& angles) {
    Value* out = nullptr;
    for (Value* x : angles) {
      llvm::Type* bits = build_.getInt32Ty();
      if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) bits = llvm::FixedVectorType::get(bits, vector->getNumElements());
      Value* size = build_.CreateAnd(build_.CreateBitCast(x, bits), llvm::ConstantInt::get(bits, 0x7fffffff));
      out = out ? build_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, out, size) : size;
    }
    return out;
  }
  Value* above(Value* size, std::uint32_t limit) {
    Value* lanes = build_.CreateICmpSGT(size, llvm::ConstantInt::get(size->getType(), limit));
    return size->getType()->isVectorTy() ? build_.CreateOrReduce(lanes) : lanes;
  }

  llvm::Module& module_;
  Symbols& symbols_;
  const ScanAttr& scan_;
  const Program& body_;
  const StepLoop& loop_;
  llvm::IRBuilder<> build_;
  llvm::Function* function_;
  std::vector<Value*> base_;     // by pointer
  std::vector<Parts> values_;    // by variable
  std::vector<const Equation*> sine_, cosine_;  // by angle
  std::vector<const Equation*> pending_;
  std::unordered_map<Value*, Value*> splats_;
  BasicBlock* before_ = nullptr;  // the steps
  Value* first_ = nullptr;        // element of the group; null where there is one group
};

}  // namespace

void emit_step_loop(llvm::Module& module, Symbols& symbols, const Program& program, const StepLoop& loop, const std::string& name) {
  StepLoopEmitter(module, symbols, program, loop, name).run();
}

}  // namespace anadrome::codegen
