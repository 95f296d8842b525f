// Mutants: a rule of a primitive replaced, inside this process, by one that gives a wrong answer.
#pragma once
#include <string>
#include <vector>

#include "rules/table.h"

namespace anadrome::testing {

enum class RuleKind : std::uint8_t { eval, jvp, transpose, linearize, batch, cost };
enum class Change : std::uint8_t { negate, twice };
std::string_view name(RuleKind kind);
std::string_view name(Change change);

struct Mutant {
  const Row* row;
  RuleKind kind;
  Change change;
  /// "tanh.jvp.negate".
  std::string name() const;
};
/// All mutants of all rules there are, in the order of the table.
std::vector<Mutant> all_mutants();

/// While it lives, the rule is wrong: results, tangents, cotangents and batched results are negated or
/// doubled (integers get one more, truth values are inverted); costs too, and one off. The memory of the
/// primitive is made writable for it.
class Mutation {
 public:
  explicit Mutation(const Mutant& mutant);
  ~Mutation();
  Mutation(const Mutation&) = delete;
  /// How many values the wrong rule has changed.
  static long changes();

 private:
  Mutant mutant_;
};

struct Verdict {
  enum class Outcome : std::uint8_t { killed, equivalent, survived } outcome;
  std::string by;  // the check that failed, or why the mutant is the same rule
};
std::string_view name(Verdict::Outcome outcome);
/// Runs the checks of the primitive's row until one fails that passes without the mutation.
Verdict try_mutant(const Mutant& mutant);

}  // namespace anadrome::testing
