// The closed set of attributes. Each alternative is a plain aggregate; hashing, equality, printing and parsing are
// written once, over its fields (core/attrs.cpp).
#pragma once
#include <bit>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "anadrome/program.h"

namespace anadrome {

/// A program held by an equation. Compared by structure; `sources` are the lines of the function it came from.
struct SubProgram {
  ProgramPtr program;
  std::shared_ptr<const SourceTable> sources;
  const Program& operator*() const { return *program; }
  const Program* operator->() const { return program.get(); }
  friend bool operator==(const SubProgram& a, const SubProgram& b) {
    return a.program == b.program || same_structure(*a.program, *b.program);
  }
};

/// A number among attributes, compared by its bits.
struct Real {
  double value;
  friend bool operator==(const Real& a, const Real& b) { return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value); }
};

struct NoAttrs {};
struct AxesAttr {  // reductions, rev
  Ints axes;
};
struct AxisAttr {  // concatenate, argmax, argmin
  std::int64_t axis;
};
struct CumulativeAttr {
  std::int64_t axis;
  bool reverse;
};
struct PermutationAttr {
  Ints perm;
};
struct ShapeAttr {  // reshape
  Shape shape;
};
struct BroadcastAttr {  // operand axis k becomes result axis dims[k]
  Shape shape;
  Ints dims;
};
struct SliceAttr {
  Ints start, limit, strides;
};
struct WindowSliceAttr {  // dynamic_slice and its relatives: static sizes
  Ints sizes;
};
struct PadAttr {  // negative low and high cut
  Ints low, high, interior;
};
struct IotaAttr {
  DType dtype;
  Shape shape;
  std::int64_t axis;
};
struct IdentityAttr {  // an identity matrix, the basis of a Jacobian
  DType dtype;
  std::int64_t size;
};
struct TypeAttr {  // convert, bitcast, zero_tangent
  DType dtype;
  Shape shape;  // empty for convert and bitcast
};
struct PrecisionAttr {
  std::int64_t exponent_bits, mantissa_bits;
};
struct IntegerPowAttr {
  std::int64_t exponent;
};
struct DotAttr {
  Ints contract_lhs, contract_rhs, batch_lhs, batch_rhs;
};
/// What a gather or scatter does with an index that does not fit.
enum class IndexMode : std::uint8_t {
  clip,          // reads and updates move it into the array
  fill_or_drop,  // reads give NaN (the smallest signed, largest unsigned integer, true), updates drop
  zero_or_drop,  // reads give zero: tangents of fill_or_drop, transposes of updates that drop
  clip_or_drop   // reads clip, their transpose and updates drop: x[i]
};
struct GatherAttr {  // StableHLO's dimension numbers; the index vector is the last axis of the indices
  Ints offset_dims, collapsed_dims, start_index_map, operand_batching_dims, indices_batching_dims, slice_sizes;
  IndexMode mode;
};
struct ScatterAttr {
  Ints update_window_dims, inserted_dims, scatter_dims, operand_batching_dims, indices_batching_dims;
  IndexMode mode;
};
struct SortAttr {  // sorts all operands together by the first num_keys of them; stable
  std::int64_t axis, num_keys;
};
struct TopKAttr {
  std::int64_t k;
};
struct ReduceWindowAttr {
  Ints window, strides, low, high;
};
struct CollectiveAttr {  // psum, axis_index: the name of a vmapped axis and its size
  std::string axis_name;
  std::int64_t size;
};
struct CallAttr {
  std::string name;
  SubProgram body;
};
/// A loop of `length` steps. Operands: `consts` that every step reads, `carries` that each step hands to the next, and arrays
/// of which each step reads one slice along axis 0, from the last one on where `reverse`. The body takes those and gives the
/// new carries and one slice of each further result.
struct ScanAttr {
  SubProgram body;
  std::int64_t length, consts, carries;
  bool reverse;
};
/// One of several programs, by the first operand, an i32 that is clamped. The other operands are the inputs of each.
struct CondAttr {
  std::vector<SubProgram> branches;
};
/// A loop while `condition` gives true. Operands: what only the condition reads, what only the body reads, and the carries.
/// `max_steps`, or -1, is how many steps the condition can allow: what a reverse derivative goes through.
struct WhileAttr {
  SubProgram condition, body;
  std::int64_t condition_consts, body_consts, max_steps;
};

/// A derivative rule that is recorded when a derivative asks for it: the rule calls its own function, or wants to know what
/// is differentiated. Programs of such rules capture nothing.
class LateRule {
 public:
  virtual ~LateRule() = default;
  /// Rules with equal keys are the same.
  virtual const std::string& key() const = 0;
  /// What the rule is called in the texts of programs.
  virtual std::string name() const = 0;
  /// The tangent rule of a custom_jvp, or the forward rule of a custom_vjp. `perturbed`: by differentiable argument.
  virtual SubProgram forward(const std::vector<char>& perturbed) const = 0;
  /// The backward rule of a custom_vjp. `zero`: by differentiable result, whose cotangent is known to be zero.
  virtual SubProgram backward(const std::vector<char>& perturbed, const std::vector<char>& zero) const = 0;
};
/// A late rule, or none.
struct LateRuleRef {
  std::shared_ptr<const LateRule> rule;
  explicit operator bool() const { return rule != nullptr; }
  const LateRule* operator->() const { return rule.get(); }
  friend bool operator==(const LateRuleRef& a, const LateRuleRef& b) {
    return a.rule == b.rule || (a.rule && b.rule && a.rule->key() == b.rule->key());
  }
};
/// A function with a tangent rule of its own. Operands: what the function captures, what `tangents` captures, the arguments.
/// `tangents` takes its captures, the arguments and a tangent per differentiable argument, and gives the results, then a
/// tangent per differentiable result. Where `rule` is set, `tangents` is empty.
struct CustomJvpAttr {
  std::string name;
  SubProgram function, tangents;
  std::int64_t function_consts, tangents_consts;
  LateRuleRef rule;
};
/// A function with a reverse rule of its own. Operands: captures of the three programs, then the arguments. `forward` gives the
/// results, then residuals; `backward` takes its captures, the residuals and a cotangent per differentiable result, and gives a
/// cotangent per differentiable argument. Where `rule` is set, `forward` and `backward` are empty.
struct CustomVjpAttr {
  std::string name;
  SubProgram function, forward, backward;
  std::int64_t function_consts, forward_consts, backward_consts;
  LateRuleRef rule;
};
/// The tangent of a custom_vjp function, known by its transpose alone. Operands: `known` values that `backward` reads, then a
/// tangent per differentiable argument. `function` has the types.
struct CustomLinearAttr {
  std::string name;
  SubProgram function, backward;
  std::int64_t known;
  Ints perturbed;
  LateRuleRef rule;
};
/// What a checkpoint keeps for its derivative.
enum class Save : std::uint8_t { nothing, everything, dots, names };
/// A call whose values are computed again where its derivative needs them, but for those that are saved.
struct CheckpointAttr {
  SubProgram body;
  Save save;
  std::vector<std::string> names;
};
/// The root x of `function`(consts, x), found by `solver`(consts, start). Operands: the consts, then the start. The two others take
/// consts, root and a right side, and solve the linear system of the derivative of the function in x, or its transpose.
struct CustomRootAttr {
  SubProgram function, solver, tangent_solver, transposed_solver;
  std::int64_t consts;
};
/// The x with `matvec`(consts, x) = b, found by `solve`(consts, b). Operands: the consts, then b; the two others are of the
/// transposed map.
struct LinearSolveAttr {
  SubProgram matvec, transposed, solve, transposed_solve;
  std::int64_t consts;
};
struct NameAttr {  // checkpoint_name; require: the message
  std::string name;
};
/// A loop whose body can be undone. `loop` is one scan equation. `anchors`: how many states are kept, -1 where the library
/// chooses; `tolerance`: of a state that is had by undoing steps, relative.
struct ReversibleScanAttr {
  SubProgram loop;
  std::int64_t anchors;
  Real tolerance;
};
/// The tangents of `loop`, one scan equation, in the operands `active`. Operands: those of the loop, the states kept for the
/// transpose, and the tangents; `tangent` gives the results from all of them.
struct LoopTangentAttr {
  SubProgram tangent, loop;
  Ints active;
  std::int64_t anchors;
  Real tolerance;
  std::int64_t slots;  // states beside the first one that recomputing them keeps; -1 where steps are undone
};
struct CheckpointScheduleAttr {
  std::int64_t length, slots;
};
/// What `run` gives; every transform takes `plain`, which has the same results.
struct RewoundAttr {
  SubProgram run, plain;
};
struct RewindMissedAttr {
  Real tolerance;
};
struct VerifyRewindAttr {
  std::int64_t anchors;
  Real predicted, tolerance;
  bool strict;
};

using AttrsVariant =
    std::variant<NoAttrs, AxesAttr, AxisAttr, CumulativeAttr, PermutationAttr, ShapeAttr, BroadcastAttr, SliceAttr,
                 WindowSliceAttr, PadAttr, IotaAttr, IdentityAttr, TypeAttr, PrecisionAttr, IntegerPowAttr, DotAttr,
                 GatherAttr, ScatterAttr, SortAttr, TopKAttr, ReduceWindowAttr, CollectiveAttr, CallAttr, ScanAttr,
                 CondAttr, WhileAttr, CustomJvpAttr, CustomVjpAttr, CustomLinearAttr, CheckpointAttr,
                 CustomRootAttr, LinearSolveAttr, NameAttr,
                 ReversibleScanAttr, LoopTangentAttr, RewoundAttr, RewindMissedAttr, VerifyRewindAttr, CheckpointScheduleAttr>;

struct AttrsBox {
  AttrsVariant value;
};

template <class T>
Attrs::Attrs(const T& value) {
  if constexpr (!std::is_same_v<T, NoAttrs>) box_ = std::make_shared<const AttrsBox>(AttrsBox{AttrsVariant(value)});
}
namespace detail {
[[noreturn]] void throw_wrong_attrs(const AttrsBox* box);
}
template <class T>
const T& Attrs::as() const {
  const T* value = box_ ? std::get_if<T>(&box_->value) : nullptr;
  if (!value) detail::throw_wrong_attrs(box_.get());
  return *value;
}

/// The programs an equation holds (the body of a call); late rules have none yet.
std::vector<const SubProgram*> sub_programs(const Attrs& attrs);
/// The program that gives the results of an equation that is about loops run backwards. Null for any other equation.
const SubProgram* replacement(const Attrs& attrs);
/// A hash of the fields; sub-programs count by their structure.
std::uint64_t hash(const Attrs& attrs);
/// "[axis=0, reverse=true]", or "" without attributes. Sub-programs are printed by `print_sub`.
std::string to_string(const Attrs& attrs, const std::function<std::string(const SubProgram&)>& print_sub);

}  // namespace anadrome
