// Errors: everything the library throws derives from Error; nothing is printed and nothing aborts.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>

namespace anadrome {

/// Base of every error of the library. `what()` says what was wrong, the facts that clash, what to write instead,
/// and the line of the user's program where that is known.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// A shape, dtype, rank or tree that does not fit.
class TypeError : public Error {
 public:
  using Error::Error;
};
/// A C++ integer index outside [-n, n).
class IndexError : public Error {
 public:
  using Error::Error;
};
/// A recorded value used where it has no value, or after (or outside) the function that made it.
class TraceError : public Error {
 public:
  using Error::Error;
};
/// A primitive that has no rule for the transform asked for.
class RuleError : public Error {
 public:
  using Error::Error;
};
/// A function that cannot be run backwards: an equation loses what it would take.
class NotInvertible : public Error {
 public:
  using Error::Error;
};
/// A memory budget that no way of differentiating keeps to.
class BudgetError : public Error {
 public:
  using Error::Error;
};
/// A backend that cannot compile a program.
class CompileError : public Error {
 public:
  using Error::Error;
};
/// A run that failed (out of memory, for instance); arrays are as they were before it.
class RunError : public Error {
 public:
  using Error::Error;
};
/// A text that is not a program.
class ParseError : public Error {
 public:
  using Error::Error;
};
/// A fault of the library itself: please report it.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace anadrome
