// The transforms on functions of lists of arrays. The templates of transform.h and jit.h flatten trees and call these.
#pragma once
#include <climits>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anadrome/array.h"
#include "anadrome/compile.h"
#include "anadrome/program.h"

namespace anadrome {
/// " at train.cpp:41", or "" where no line is known.
std::string at_source(const std::source_location& source);
}  // namespace anadrome

namespace anadrome::functional {

using Arrays = std::vector<Array>;
using Function = std::function<Arrays(const Arrays&)>;
/// The name of leaf i in the user's tree ("argument 0: layers[1].w"), for errors.
using LeafName = std::function<std::string(std::size_t)>;
using Mask = std::vector<bool>;

/// Where a transform was made, and what it is called in errors.
struct Context {
  std::string name;
  std::source_location source;
  LeafName leaf;
};

// ---- derivatives
struct JvpResult {
  Arrays y, t;  // a tangent per output: zeros where independent, no_gradient for integers
};
/// Tangents: empty = zero.
JvpResult jvp(const Function& f, const Arrays& x, const Arrays& t, const Context& context = {});

/// The linear part of a function at a point.
class LinearMap {
 public:
  /// Tangents of the inputs (empty = zero) to tangents of the outputs.
  Arrays push(const Arrays& t) const;
  /// Cotangents of the outputs to cotangents of the inputs: zeros where independent, no_gradient for integers, empty for
  /// unwanted ones.
  Arrays pull(const Arrays& ct) const;
  /// Captures are the residuals, inputs the tangents.
  const Program& program() const;
  const Arrays& residuals() const;

  struct State;
  explicit LinearMap(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};
struct LinearizeResult {
  Arrays y;
  LinearMap linear;
};
LinearizeResult linearize(const Function& f, const Arrays& x, const Mask& wanted, const Context& context = {});

struct VjpResult {
  Arrays y;
  std::function<Arrays(const Arrays& ct)> pull;
};
VjpResult vjp(const Function& f, const Arrays& x, const Mask& wanted, const Context& context = {});

struct GradResult {
  Arrays y;  // the value, then auxiliary outputs; empty unless asked for
  Arrays grads;  // one per wanted input, in order
};
/// The first output of `f` must be one float number; the others are auxiliary.
GradResult grad(const Function& f, const Arrays& x, const Mask& wanted, bool with_value, const Context& context = {});

enum class JacobianMode : std::uint8_t { forward, reverse };
/// By output, by wanted input: an array of shape [output..., input...].
std::vector<Arrays> jacobian(const Function& f, const Arrays& x, const Mask& wanted, JacobianMode mode,
                             const Context& context = {});
/// The transpose of a linear function: cotangents of the outputs to cotangents of the inputs.
std::function<Arrays(const Arrays& ct)> linear_transpose(const Function& f, const Arrays& example,
                                                         const Context& context = {});

// ---- batching
inline constexpr int not_batched = INT_MIN;
/// Batch axes per input (may be negative) and per output; `out` is asked once the function is recorded and gives one
/// entry for all outputs, or one each. `size` -1: taken from the inputs.
struct VmapSpec {
  std::vector<int> in;
  std::function<std::vector<int>()> out;
  std::string axis_name;
  std::int64_t size = -1;
};
Arrays vmap(const Function& f, const Arrays& x, const VmapSpec& spec, const Context& context = {});
Arrays vmap(const Function& f, const Arrays& x, const std::vector<int>& axes, int out_axis = 0,
            const std::string& axis_name = {});

// ---- programs and compilation
/// Records `f`; concrete arrays from outside are captures.
Program make_program(const Function& f, const Arrays& x, const Context& context = {});

/// A recorded function with the arrays it captured, ready to compile or to call.
struct Recorded {
  ProgramPtr program;
  Arrays captures;
  bool reusable = true;  // false when it captured a variable of an enclosing function
  Mask donated = {};     // by input: given up by a run
};
Recorded record_for_jit(const Function& f, const Arrays& x, const Context& context);
/// Inside a recorded function: records a call equation.
Arrays call_recorded(const Recorded& recorded, const Arrays& x, const std::string& name);
std::shared_ptr<const Executable> compile_recorded(const Recorded& recorded, const CompileOptions& options,
                                                   const Mask& donated);
/// Runs; throws TypeError when an argument has another type than the program's input. Donated arguments are unusable
/// afterwards, unless the call reads them in another place too: then it ran on a copy.
Arrays run_recorded(const Recorded& recorded, const Executable& executable, const Arrays& x, const Context& context);
/// Throws TypeError for a leaf that is empty or has no data.
void check_leaves(const Arrays& leaves, const Context& context);
/// True while a function is being recorded on this thread.
bool recording();

/// What a call of a jitted function is recognised by. The arrays are those of the caller: nothing is copied.
struct Call {
  const void* form = nullptr;  // one address for each combination of C++ types of result and arguments
  bool recorded = false;       // inside a function being recorded
  anadrome::detail::InlineVector<char, 48> structure;  // static values and sizes of containers
  anadrome::detail::InlineVector<const Array*, 16> leaves;
};
/// A compiled function with what a call needs at hand.
struct Entry {
  Recorded recorded;
  std::shared_ptr<const Executable> executable;
  Entry(Recorded r, std::shared_ptr<const Executable> e);
  virtual ~Entry() = default;

  std::vector<Type> inputs;
  bool gives_up = false;  // some argument is donated
};
/// Whether every leaf has numbers, of the type that the function was compiled for.
bool accepts(const Entry& entry, std::span<const Array* const> leaves);
/// Runs on leaves that were accepted, and writes the results to their places; `source` names the jit in the errors of a
/// donated argument's later uses.
void run_accepted(const Entry& entry, std::span<const Array* const> leaves, std::span<Array* const> results,
                  const std::source_location& source);

/// The entries of a jitted function by call. Entries stay as long as the cache. Safe from several threads; a call that
/// was seen before is found without a lock.
class CallCache {
 public:
  CallCache();
  ~CallCache();
  /// The entry of a call whose leaves it accepts, or null: then `find` and the checks of arguments have the word.
  const Entry* ready(const Call& call) const;
  /// The entry of a call, whatever its leaves hold, or null.
  std::shared_ptr<const Entry> find(const Call& call) const;
  /// Keeps the entry, or gives the one that another thread kept before.
  std::shared_ptr<const Entry> keep(const Call& call, std::shared_ptr<const Entry> entry);

 private:
  struct State;
  std::unique_ptr<State> state_;
};
CostAnalysis cost_of(const Program& program);
/// Compiles and runs once.
Arrays run_jit(const Function& f, const Arrays& x, const std::string& backend);

}  // namespace anadrome::functional
