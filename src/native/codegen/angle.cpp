// Angle: the arithmetic of sin_narrow, cos_narrow and sincos_narrow (native/vector_kernels.h) as instructions, without the
// reduction of angles that need none.
#include <bit>
#include <span>

#include "native/codegen/context.h"
#include "native/vector_coefficients.h"

namespace anadrome::codegen {
namespace {

using llvm::Value;

constexpr double pi_1 = 0x1.921fb54442d18p+1, pi_2 = 0x1.1a62633145c07p-53, round_by_adding = 0x1.8p52;

/// Arithmetic on doubles: numbers, or vectors of as many as x has.
class Doubles {
 public:
  Doubles(llvm::IRBuilder<>& build, Value* x) : build_(build), floats_(x->getType()) {
    llvm::Type *number = build.getDoubleTy(), *bits = build.getInt64Ty();
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(floats_);
    type_ = vector ? llvm::FixedVectorType::get(number, vector->getNumElements()) : number;
    bits_ = vector ? llvm::FixedVectorType::get(bits, vector->getNumElements()) : bits;
  }
  Value* widened(Value* x) { return build_.CreateFPExt(x, type_); }
  Value* narrowed(Value* x) { return build_.CreateFPTrunc(x, floats_); }
  Value* number(double v) { return llvm::ConstantFP::get(type_, v); }
  Value* times(Value* a, Value* b) { return build_.CreateFMul(a, b); }
  Value* plus(Value* a, Value* b) { return build_.CreateFAdd(a, b); }
  Value* fma(Value* a, Value* b, Value* c) { return build_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c}); }
  /// c - a b.
  Value* fnma(Value* a, Value* b, Value* c) { return fma(build_.CreateFNeg(a), b, c); }
  /// Bit `n` of the integer in the low bits of k, as a sign.
  Value* bit(Value* k, unsigned n) {
    Value* high = build_.CreateShl(build_.CreateBitCast(k, bits_), 63 - n);
    return build_.CreateAnd(high, llvm::ConstantInt::get(bits_, std::uint64_t{1} << 63));
  }
  /// x, its sign turned where `sign` is set.
  Value* with_sign(Value* x, Value* sign) {
    return build_.CreateBitCast(build_.CreateXor(build_.CreateBitCast(x, bits_), sign), type_);
  }
  Value* select(Value* sign, Value* where_set, Value* otherwise) {
    return build_.CreateSelect(build_.CreateICmpSLT(sign, llvm::Constant::getNullValue(bits_)), where_set, otherwise);
  }
  Value* negated(Value* x) { return build_.CreateFNeg(x); }

  /// In pairs of terms, as `polynomial` there.
  Value* polynomial(std::span<const double> c, Value* x) {
    std::vector<Value*> powers{x};  // x, x^2, x^4
    for (std::size_t n = 2; n < c.size(); n *= 2) powers.push_back(times(powers.back(), powers.back()));
    return partial(c, powers);
  }

 private:
  Value* partial(std::span<const double> c, const std::vector<Value*>& powers) {
    if (c.size() == 1) return number(c[0]);
    const std::size_t half = std::bit_ceil(c.size()) / 2;
    const auto power = static_cast<std::size_t>(std::countr_zero(half));
    Value* high = partial(c.subspan(half), powers);
    return fma(powers[power], high, partial(c.first(half), powers));
  }

  llvm::IRBuilder<>& build_;
  llvm::Type *floats_, *type_, *bits_;
};

/// x = n (part_1 + part_2) + r, n the integer in the low bits of k.
struct Reduced {
  Value *k, *r;
};
Reduced reduce(Doubles& d, double part_1, double part_2, Value* x) {
  Value* k = d.fma(x, d.number(1 / part_1), d.number(round_by_adding));
  Value* n = d.plus(k, d.number(-round_by_adding));
  return {k, d.fnma(n, d.number(part_2), d.fnma(n, d.number(part_1), x))};
}
Value* short_sine(Doubles& d, Value* r) { return d.times(r, d.polynomial(coefficients::sin_narrow, d.times(r, r))); }

Value* sine_of(Doubles& d, Value* x, bool reduced) {
  if (!reduced) return short_sine(d, x);
  const Reduced a = reduce(d, pi_1, pi_2, x);
  return d.with_sign(short_sine(d, a.r), d.bit(a.k, 0));
}
/// x = (n + 1/2) pi + r.
Value* cosine_of(Doubles& d, Value* x) {
  Value* k = d.plus(d.fma(x, d.number(1 / pi_1), d.number(-0.5)), d.number(round_by_adding));
  Value* n = d.plus(d.plus(k, d.number(-round_by_adding)), d.number(0.5));
  Value* r = d.fnma(n, d.number(pi_2), d.fnma(n, d.number(pi_1), x));
  return d.negated(d.with_sign(short_sine(d, r), d.bit(k, 0)));
}
std::pair<Value*, Value*> both_of(Doubles& d, Value* x, bool reduced) {
  const Reduced a = reduced ? reduce(d, pi_1 / 2, pi_2 / 2, x) : Reduced{nullptr, x};
  Value *z = d.times(a.r, a.r), *z2 = d.times(z, z);
  const auto head = [&](const double (&c)[5]) { return d.fma(z, d.number(c[1]), d.number(c[0])); };
  const auto tail = [&](const double (&c)[5]) { return d.fma(z2, d.number(c[4]), d.fma(z, d.number(c[3]), d.number(c[2]))); };
  Value* sine = d.fma(d.times(a.r, z2), tail(coefficients::sin_quarter_narrow), d.times(a.r, head(coefficients::sin_quarter_narrow)));
  Value* cosine = d.fma(z2, tail(coefficients::cos_quarter_narrow), head(coefficients::cos_quarter_narrow));
  if (!reduced) return {sine, cosine};
  Value *odd = d.bit(a.k, 0), *sign = d.bit(a.k, 1);
  return {d.with_sign(d.select(odd, cosine, sine), sign), d.with_sign(d.with_sign(d.select(odd, sine, cosine), sign), odd)};
}

}  // namespace

std::uint32_t Angle::tiny(Wanted wanted) {
  // x^2 / 6, or x^2 / 2, is less than half of the last place of any float.
  return std::bit_cast<std::uint32_t>(wanted == both ? 0x1.ep-13f : 0x1.bp-12f);
}
std::uint32_t Angle::near(Wanted wanted) {
  // pi / 2, or pi / 4 for both; a cosine is always reduced.
  return std::bit_cast<std::uint32_t>(wanted == sine ? 0x1.92p0f : wanted == both ? 0x1.92p-1f : 0.0f);
}
std::uint32_t Angle::far() { return std::bit_cast<std::uint32_t>(0x1p30f); }

std::pair<Value*, Value*> Angle::emit(llvm::IRBuilder<>& build, Wanted wanted, Value* x, bool reduced) {
  Doubles d(build, x);
  Value* wide = d.widened(x);
  if (wanted == sine) return {d.narrowed(sine_of(d, wide, reduced)), nullptr};
  if (wanted == cosine) return {nullptr, d.narrowed(cosine_of(d, wide))};
  const auto [s, c] = both_of(d, wide, reduced);
  return {d.narrowed(s), d.narrowed(c)};
}

}  // namespace anadrome::codegen
