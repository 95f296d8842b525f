// emit_elementwise: the instructions of each elementwise primitive, on scalars and vectors alike.
#include <llvm/IR/Intrinsics.h>

#include <functional>

#include "anadrome/error.h"
#include "native/codegen/context.h"
#include "native/emittable.h"
#include "native/vector_math.h"
#include "primitives/prims.h"

namespace anadrome::codegen {
namespace {

using llvm::Intrinsic::ID;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

llvm::Type* like(llvm::Type* element, llvm::Type* model) {
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(model)) return llvm::FixedVectorType::get(element, v->getNumElements());
  return element;
}
Value* number(Value* model, double v) {
  return model->getType()->isFPOrFPVectorTy() ? llvm::ConstantFP::get(model->getType(), v)
                                              : llvm::ConstantInt::getSigned(model->getType(), static_cast<std::int64_t>(v));
}
Value* call1(Builder& b, ID id, Value* x) { return b.CreateUnaryIntrinsic(id, x); }

/// The sign bit of a float, as i1.
Value* sign_bit(Builder& b, Value* x) {
  llvm::Type* bits = like(b.getIntNTy(x->getType()->getScalarSizeInBits()), x->getType());
  return b.CreateICmpSLT(b.CreateBitCast(x, bits), llvm::Constant::getNullValue(bits));
}

/// NaN wins, and 0 is larger than -0.
Value* extremum(Builder& b, DType dtype, bool larger, Value* x, Value* y) {
  if (!is_float(dtype)) {
    const bool sign = is_signed(dtype);
    Value* first = larger ? (sign ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y))
                          : (sign ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y));
    return b.CreateSelect(first, x, y);
  }
  Value* strict = larger ? b.CreateFCmpUGT(x, y) : b.CreateFCmpULT(x, y);  // or either is NaN
  Value* negative = sign_bit(b, x);
  Value* tie = b.CreateAnd(b.CreateFCmpOEQ(x, y), larger ? b.CreateNot(negative) : negative);
  Value* y_nan = b.CreateAnd(b.CreateFCmpUNO(y, y), b.CreateFCmpORD(x, x));
  return b.CreateSelect(b.CreateAnd(b.CreateOr(strict, tie), b.CreateNot(y_nan)), x, y);
}

/// Truncated quotient; x / 0 = -1, and the smallest number over -1 is itself.
Value* integer_quotient(Builder& b, DType dtype, Value* x, Value* y) {
  Value *zero = number(y, 0), *one = number(y, 1), *minus = number(y, -1);
  Value* by_zero = b.CreateICmpEQ(y, zero);
  if (is_unsigned(dtype)) return b.CreateSelect(by_zero, minus, b.CreateUDiv(x, b.CreateSelect(by_zero, one, y)));
  Value* by_minus = b.CreateICmpEQ(y, minus);
  Value* safe = b.CreateSelect(b.CreateOr(by_zero, by_minus), one, y);
  Value* quotient = b.CreateSelect(by_minus, b.CreateNeg(x), b.CreateSDiv(x, safe));
  return b.CreateSelect(by_zero, minus, quotient);
}

Value* integer_shift(Builder& b, const Prim& p, Value* x, Value* n) {
  const unsigned width = x->getType()->getScalarSizeInBits();
  Value* fits = b.CreateICmpULT(n, number(n, width));
  if (&p == &prim::shift_right_arithmetic) return b.CreateAShr(x, b.CreateSelect(fits, n, number(n, width - 1)));
  Value* safe = b.CreateSelect(fits, n, number(n, 0));
  Value* shifted = &p == &prim::shift_left ? b.CreateShl(x, safe) : b.CreateLShr(x, safe);
  return b.CreateSelect(fits, shifted, number(x, 0));
}

Value* power(Builder& b, DType dtype, Value* x, std::int64_t n) {
  const bool real = is_float(dtype);
  const auto times = [&](Value* u, Value* v) { return real ? b.CreateFMul(u, v) : b.CreateMul(u, v); };
  if (n == 2) return times(x, x);
  if (n == -1 && real) return b.CreateFDiv(number(x, 1), x);
  llvm::Type* narrow = x->getType();
  if (real) x = b.CreateFPExt(x, like(b.getDoubleTy(), narrow));  // rounded once, at the end
  Value* product = nullptr;
  for (auto rest = n < 0 ? ~static_cast<std::uint64_t>(n) + 1 : static_cast<std::uint64_t>(n); rest; rest >>= 1) {
    if (rest & 1) product = product ? times(product, x) : x;
    if (rest > 1) x = times(x, x);
  }
  if (!product) product = number(x, 1);
  if (n < 0) product = b.CreateFDiv(number(product, 1), product);
  return real ? b.CreateFPTrunc(product, narrow) : product;
}

Value* compare(Builder& b, const Prim& p, DType dtype, Value* x, Value* y) {
  using P = llvm::CmpInst::Predicate;
  struct Row {
    const Prim* prim;
    P real, with_sign, without;
  };
  static constexpr Row rows[] = {
      {&prim::eq, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {&prim::ne, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
      {&prim::lt, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {&prim::le, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
      {&prim::gt, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {&prim::ge, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}};
  for (const Row& r : rows)
    if (r.prim == &p)
      return is_float(dtype) ? b.CreateFCmp(r.real, x, y) : b.CreateICmp(is_signed(dtype) ? r.with_sign : r.without, x, y);
  return nullptr;
}

Value* select(Builder& b, DType which_type, std::span<Value* const> x) {
  if (which_type == DType::b1) return b.CreateSelect(x[0], x[2], x[1]);
  Value* out = x.back();
  for (std::size_t k = x.size() - 1; k-- > 1;)
    out = b.CreateSelect(b.CreateICmpSLE(x[0], number(x[0], static_cast<double>(k) - 1)), x[k], out);
  return out;
}

/// One vector function on values of any number of lanes: in pieces, or with lanes that repeat the first one. A second
/// result goes to `memory`, if that is set.
Value* call_vector(const Operation& op, const MathFunction& f, int lanes, std::span<Value* const> x, Value* memory = nullptr) {
  Builder& b = op.build;
  llvm::Type* element = x[0]->getType()->getScalarType();
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  std::vector<llvm::Type*> parameters(x.size(), type);
  if (memory) parameters.push_back(b.getPtrTy());
  const auto function = op.module.getOrInsertFunction(f.symbol, llvm::FunctionType::get(type, parameters, false));
  op.symbols[f.symbol] = f.address;
  const auto call = [&](std::vector<Value*> operands, int first) {
    if (memory) operands.push_back(first ? b.CreateConstInBoundsGEP1_64(element, memory, static_cast<std::uint64_t>(first)) : memory);
    return b.CreateCall(function, operands);
  };
  if (op.lanes == 1) {
    std::vector<Value*> wide;
    for (Value* v : x) wide.push_back(b.CreateVectorSplat(static_cast<unsigned>(lanes), v));
    return b.CreateExtractElement(call(wide, 0), std::uint64_t{0});
  }
  std::vector<Value*> parts;
  for (int first = 0; first < op.lanes; first += lanes) {
    std::vector<int> pick;
    for (int k = 0; k < lanes; ++k) pick.push_back(first + k < op.lanes ? first + k : first);
    std::vector<Value*> part;
    for (Value* v : x) part.push_back(lanes == op.lanes ? v : b.CreateShuffleVector(v, pick));
    parts.push_back(call(part, first));
  }
  while (parts.size() > 1) {
    std::vector<Value*> joined;
    const int width = static_cast<int>(llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements());
    std::vector<int> both;
    for (int k = 0; k < 2 * width; ++k) both.push_back(k);
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2) joined.push_back(b.CreateShuffleVector(parts[k], parts[k + 1], both));
    parts = joined;
  }
  if (lanes <= op.lanes) return parts[0];
  std::vector<int> head;
  for (int k = 0; k < op.lanes; ++k) head.push_back(k);
  return b.CreateShuffleVector(parts[0], head);
}

Value* call_scalar(const Operation& op, const MathFunction& f, std::span<Value* const> x) {
  Builder& b = op.build;
  llvm::Type* element = x[0]->getType()->getScalarType();
  const std::vector<llvm::Type*> parameters(x.size(), element);
  const auto function = op.module.getOrInsertFunction(f.symbol, llvm::FunctionType::get(element, parameters, false));
  op.symbols[f.symbol] = f.address;
  if (op.lanes == 1) return b.CreateCall(function, std::vector<Value*>(x.begin(), x.end()));
  Value* out = llvm::PoisonValue::get(x[0]->getType());
  for (int k = 0; k < op.lanes; ++k) {
    std::vector<Value*> lane;
    for (Value* v : x) lane.push_back(b.CreateExtractElement(v, static_cast<std::uint64_t>(k)));
    out = b.CreateInsertElement(out, b.CreateCall(function, lane), static_cast<std::uint64_t>(k));
  }
  return out;
}

/// The dtype that functions of numbers of this dtype compute in.
DType function_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }
int full_lanes(DType dtype) { return dtype == DType::f64 ? 4 : 8; }

struct VectorCall {
  MathFunction function;
  int lanes;
};
/// The function for as many lanes as the operands fill.
template <class Find>
std::optional<VectorCall> find_widest(const Operation& op, Find find) {
  const DType dtype = function_dtype(op.in(0));
  const int full = full_lanes(dtype);
  for (const int lanes : {2 * full, full})
    if (lanes <= std::max(op.lanes, full))
      if (const auto f = find(dtype, lanes)) return VectorCall{*f, lanes};
  return std::nullopt;
}

Value* call_function(const Operation& op, std::span<Value* const> x) {
  const std::string_view name = op.equation.prim->name;
  const auto vector = find_widest(op, [&](DType dtype, int lanes) { return vector_function(name, dtype, lanes); });
  if (vector) return call_vector(op, vector->function, vector->lanes, x);
  if (const auto f = scalar_function(name, function_dtype(op.in(0)))) return call_scalar(op, *f, x);
  throw InternalError("code generator: no function for " + std::string(name));
}

/// Memory for `count` numbers, taken when the kernel starts; vectors of `lanes` do not cross lines of the cache.
llvm::AllocaInst* memory_for(Builder& b, llvm::Type* element, int count, int lanes) {
  const Builder::InsertPointGuard guard(b);
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  b.SetInsertPoint(&entry, entry.begin());
  llvm::AllocaInst* memory = b.CreateAlloca(llvm::ArrayType::get(element, static_cast<std::uint64_t>(count)));
  memory->setAlignment(llvm::Align(static_cast<std::uint64_t>(lanes) * element->getScalarSizeInBits() / 8));
  return memory;
}

/// The sine or the cosine of x; the first to be asked for calls the function that gives both. The cosine waits in
/// memory, since no vector register outlives the next call.
Value* sine_or_cosine(const Operation& op, Value* x) {
  Builder& b = op.build;
  SineCosine& both = (*op.both)[x];
  if (!both.sines) {
    const VectorCall call = find_widest(op, sine_cosine_function).value();
    both.cosines = memory_for(b, x->getType()->getScalarType(), std::max(op.lanes, call.lanes), call.lanes);
    both.sines = call_vector(op, call.function, call.lanes, {&x, 1}, both.cosines);
  }
  if (op.equation.prim == &prim::sin) return both.sines;
  return b.CreateAlignedLoad(x->getType(), both.cosines, both.cosines->getAlign());
}

Value* emit_integer(const Operation& op, std::span<Value* const> x) {
  Builder& b = op.build;
  const Prim* p = op.equation.prim;
  if (p == &prim::bit_not) return b.CreateNot(x[0]);
  if (p == &prim::bit_and) return b.CreateAnd(x[0], x[1]);
  if (p == &prim::bit_or) return b.CreateOr(x[0], x[1]);
  if (p == &prim::bit_xor) return b.CreateXor(x[0], x[1]);
  if (p == &prim::shift_left || p == &prim::shift_right_arithmetic || p == &prim::shift_right_logical)
    return integer_shift(b, *p, x[0], x[1]);
  if (p == &prim::population_count) return call1(b, llvm::Intrinsic::ctpop, x[0]);
  if (p == &prim::clz) return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x[0], b.getFalse());
  return nullptr;
}

Value* emit_arithmetic(const Operation& op, std::span<Value* const> x) {
  Builder& b = op.build;
  const Prim* p = op.equation.prim;
  const DType dtype = op.in(0);
  const bool real = is_float(dtype);
  if (p == &prim::neg) return real ? b.CreateFNeg(x[0]) : b.CreateNeg(x[0]);
  if (p == &prim::add) return real ? b.CreateFAdd(x[0], x[1]) : b.CreateAdd(x[0], x[1]);
  if (p == &prim::sub) return real ? b.CreateFSub(x[0], x[1]) : b.CreateSub(x[0], x[1]);
  if (p == &prim::mul) return real ? b.CreateFMul(x[0], x[1]) : b.CreateMul(x[0], x[1]);
  if (p == &prim::div) return real ? b.CreateFDiv(x[0], x[1]) : integer_quotient(b, dtype, x[0], x[1]);
  if (p == &prim::max || p == &prim::min) return extremum(b, dtype, p == &prim::max, x[0], x[1]);
  if (p == &prim::clamp) return extremum(b, dtype, false, extremum(b, dtype, true, x[0], x[1]), x[2]);
  if (p == &prim::integer_pow) return power(b, dtype, x[0], op.equation.as<IntegerPowAttr>().exponent);
  if (p == &prim::abs) {
    if (real) return call1(b, llvm::Intrinsic::fabs, x[0]);
    return is_unsigned(dtype) ? x[0] : b.CreateSelect(b.CreateICmpSLT(x[0], number(x[0], 0)), b.CreateNeg(x[0]), x[0]);
  }
  if (p == &prim::sign) {
    Value *zero = number(x[0], 0), *one = number(x[0], 1), *minus = number(x[0], -1);
    if (is_unsigned(dtype)) return b.CreateSelect(b.CreateICmpNE(x[0], zero), one, x[0]);
    Value* up = real ? b.CreateFCmpOGT(x[0], zero) : b.CreateICmpSGT(x[0], zero);
    Value* down = real ? b.CreateFCmpOLT(x[0], zero) : b.CreateICmpSLT(x[0], zero);
    return b.CreateSelect(up, one, b.CreateSelect(down, minus, x[0]));
  }
  return nullptr;
}

Value* emit_float(const Operation& op, std::span<Value* const> x) {
  Builder& b = op.build;
  const Prim* p = op.equation.prim;
  if (p == &prim::sqrt) return call1(b, llvm::Intrinsic::sqrt, x[0]);
  if (p == &prim::rsqrt) return b.CreateFDiv(number(x[0], 1), call1(b, llvm::Intrinsic::sqrt, x[0]));
  if (p == &prim::floor) return call1(b, llvm::Intrinsic::floor, x[0]);
  if (p == &prim::ceil) return call1(b, llvm::Intrinsic::ceil, x[0]);
  if (p == &prim::round) return call1(b, llvm::Intrinsic::round, x[0]);
  if (p == &prim::rint) return call1(b, llvm::Intrinsic::rint, x[0]);
  if (p == &prim::trunc) return call1(b, llvm::Intrinsic::trunc, x[0]);
  if (p == &prim::is_finite) return b.CreateFCmpOEQ(b.CreateFSub(x[0], x[0]), number(x[0], 0));
  return nullptr;
}

/// The bits of a 16-bit float that a computed value stands for, or the value that bits stand for.
Value* emit_bitcast(const Operation& op, Value* x) {
  Builder& b = op.build;
  Value* bits = to_memory(b, x, op.in(0));
  llvm::Type* to = like(memory_type(b.getContext(), op.out()), bits->getType());
  return from_memory(b, b.CreateBitCast(bits, to), op.out());
}

}  // namespace

llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::f32: return llvm::Type::getFloatTy(context);
    case DType::f64: return llvm::Type::getDoubleTy(context);
    case DType::f16: return llvm::Type::getHalfTy(context);
    default: return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * item_size(dtype)));
  }
}
llvm::Type* compute_type(llvm::LLVMContext& context, DType dtype) {
  if (dtype == DType::b1) return llvm::Type::getInt1Ty(context);
  if (dtype == DType::bf16 || dtype == DType::f16) return llvm::Type::getFloatTy(context);
  return memory_type(context, dtype);
}

Value* from_memory(Builder& b, Value* x, DType dtype) {
  if (dtype == DType::b1) return b.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  if (dtype == DType::f16) return b.CreateFPExt(x, like(b.getFloatTy(), x->getType()));
  if (dtype != DType::bf16) return x;
  Value* wide = b.CreateShl(b.CreateZExt(x, like(b.getInt32Ty(), x->getType())), 16);
  return b.CreateBitCast(wide, like(b.getFloatTy(), x->getType()));
}
Value* to_memory(Builder& b, Value* x, DType dtype) {
  if (dtype == DType::b1) return b.CreateZExt(x, like(b.getInt8Ty(), x->getType()));
  if (dtype == DType::f16) return b.CreateFPTrunc(x, like(b.getHalfTy(), x->getType()));
  if (dtype != DType::bf16) return x;
  llvm::Type* wide = like(b.getInt32Ty(), x->getType());
  Value* bits = b.CreateBitCast(x, wide);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), llvm::ConstantInt::get(wide, 1));
  Value* even = b.CreateAdd(bits, b.CreateAdd(odd, llvm::ConstantInt::get(wide, 0x7fff)));  // ties to even
  Value* quiet = b.CreateOr(bits, llvm::ConstantInt::get(wide, 0x400000));
  Value* chosen = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, even);
  return b.CreateTrunc(b.CreateLShr(chosen, 16), like(b.getInt16Ty(), x->getType()));
}
Value* rounded(Builder& b, Value* x, DType dtype) {
  return dtype == DType::bf16 || dtype == DType::f16 ? from_memory(b, to_memory(b, x, dtype), dtype) : x;
}

/// A double as the float beside it whose last bit is odd, unless it is a float: rounding that to 16 bits rounds once.
static Value* to_odd_float(Builder& b, Value* x) {
  llvm::Type *floats = like(b.getFloatTy(), x->getType()), *integers = like(b.getInt32Ty(), x->getType());
  Value* nearest = b.CreateFPTrunc(x, floats);
  Value* back = b.CreateFPExt(nearest, x->getType());
  Value* bits = b.CreateBitCast(nearest, integers);
  const auto magnitude = [&](Value* v) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  Value* too_large = b.CreateFCmpOGT(magnitude(back), magnitude(x));
  Value* beside = b.CreateAdd(bits, b.CreateSelect(too_large, llvm::Constant::getAllOnesValue(integers), llvm::ConstantInt::get(integers, 1)));
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, llvm::ConstantInt::get(integers, 1)), llvm::Constant::getNullValue(integers));
  return b.CreateBitCast(b.CreateSelect(b.CreateAnd(b.CreateFCmpONE(back, x), even), beside, bits), floats);
}

/// An integer as a double; one of more than 53 bits as one whose last bit tells that some below were set.
static Value* to_odd_double(Builder& b, Value* x, bool sign) {
  llvm::Type* type = x->getType();
  llvm::Type* doubles = like(b.getDoubleTy(), type);
  if (type->getScalarSizeInBits() < 64) return sign ? b.CreateSIToFP(x, doubles) : b.CreateUIToFP(x, doubles);
  Value* zero = llvm::Constant::getNullValue(type);
  Value* negative = sign ? b.CreateICmpSLT(x, zero) : nullptr;
  Value* magnitude = sign ? b.CreateSelect(negative, b.CreateNeg(x), x) : x;
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(type, n); };
  Value* low = b.CreateICmpNE(b.CreateAnd(magnitude, number(0x7FF)), zero);
  Value* cut = b.CreateOr(b.CreateAnd(magnitude, number(~std::uint64_t{0x7FF})), b.CreateSelect(low, number(0x800), zero));
  Value* y = b.CreateUIToFP(b.CreateSelect(b.CreateICmpUGE(magnitude, number(std::uint64_t{1} << 53)), cut, magnitude), doubles);
  return sign ? b.CreateSelect(negative, b.CreateFNeg(y), y) : y;
}

Value* emit_convert(Builder& b, Value* x, DType from, DType to) {
  const bool narrow = to == DType::f16 || to == DType::bf16;
  if (narrow && from == DType::f64) return rounded(b, to_odd_float(b, x), to);
  if (narrow && !is_float(from) && from != DType::b1)
    return rounded(b, to_odd_float(b, to_odd_double(b, x, is_signed(from))), to);
  llvm::Type* type = like(compute_type(b.getContext(), to), x->getType());
  if (is_float(from)) {
    if (to == DType::b1) return b.CreateFCmpUNE(x, number(x, 0));
    if (is_float(to)) return rounded(b, b.CreateFPCast(x, type), to);
    const ID id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b.CreateIntrinsic(id, {type, x->getType()}, {x});
  }
  const bool sign = is_signed(from);
  if (to == DType::b1) return b.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  if (is_float(to)) return rounded(b, sign ? b.CreateSIToFP(x, type) : b.CreateUIToFP(x, type), to);
  return b.CreateIntCast(x, type, sign);
}

Value* emit_combine(Builder& b, const Prim& r, DType dtype, Value* x, Value* y) {
  const bool real = is_float(dtype);
  if (&r == &prim::reduce_sum) return real ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
  if (&r == &prim::reduce_prod) return real ? b.CreateFMul(x, y) : b.CreateMul(x, y);
  if (&r == &prim::reduce_max || &r == &prim::reduce_min) return extremum(b, dtype, &r == &prim::reduce_max, x, y);
  return &r == &prim::reduce_and ? b.CreateAnd(x, y) : b.CreateOr(x, y);
}

llvm::Constant* reduction_identity(const Prim& r, DType dtype, llvm::Type* type) {
  if (&r == &prim::reduce_sum || &r == &prim::reduce_or) return llvm::Constant::getNullValue(type);
  if (&r == &prim::reduce_and) return llvm::Constant::getAllOnesValue(type);
  if (&r == &prim::reduce_prod)
    return is_float(dtype) ? llvm::ConstantFP::get(type, 1) : static_cast<llvm::Constant*>(llvm::ConstantInt::get(type, 1));
  const bool largest = &r == &prim::reduce_min;
  if (is_float(dtype)) return llvm::ConstantFP::getInfinity(type, !largest);
  const unsigned bits = type->getScalarSizeInBits();
  if (dtype == DType::b1) return largest ? llvm::Constant::getAllOnesValue(type) : llvm::Constant::getNullValue(type);
  const llvm::APInt limit = is_signed(dtype) ? (largest ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits))
                                             : (largest ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getMinValue(bits));
  return llvm::ConstantInt::get(type, limit);
}

bool has_sine_cosine(DType dtype) {
  const DType computed = function_dtype(dtype);
  return sine_cosine_function(computed, full_lanes(computed)).has_value();
}

Value* emit_elementwise(const Operation& op, std::span<Value* const> x) {
  Builder& b = op.build;
  const Prim* p = op.equation.prim;
  if (op.both) return rounded(b, sine_or_cosine(op, x[0]), op.out());
  if (emission(*p) == Emission::function) return rounded(b, call_function(op, x), op.out());
  if (p == &prim::stop_gradient) return x[0];
  if (p == &prim::select_n) return select(b, op.in(0), x);
  if (p == &prim::convert) return emit_convert(b, x[0], op.in(0), op.out());
  if (p == &prim::bitcast) return emit_bitcast(op, x[0]);
  if (Value* v = emit_integer(op, x)) return v;
  if (x.size() == 2)
    if (Value* v = compare(b, *p, op.in(0), x[0], x[1])) return v;
  Value* v = emit_arithmetic(op, x);
  if (!v) v = emit_float(op, x);
  if (!v) throw InternalError("code generator: no instructions for " + std::string(p->name));
  return p == &prim::is_finite ? v : rounded(b, v, op.out());
}

}  // namespace anadrome::codegen
