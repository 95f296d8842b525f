// The error of a wrong command line or a data file that cannot be used: the program ends with code 2.
#pragma once
#include <stdexcept>

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
