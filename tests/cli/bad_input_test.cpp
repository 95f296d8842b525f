// The program `anadrome` on its help, its version, and wrong input: plain text and exit code 2.
#include <gtest/gtest.h>

#include "run_program.h"

namespace anadrome::testing {
namespace {

using Words = std::vector<std::string>;

void expect_refused(const Words& arguments, const std::string& part) {
  const Finished r = run_program(arguments);
  EXPECT_EQ(r.exit_code, 2) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err.rfind("anadrome: ", 0), 0u) << r.err;
  EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
}

/// A version 1 .npy file with this header dictionary.
std::string npy(const std::string& dictionary, const std::string& data) {
  const auto length = static_cast<char>(dictionary.size());
  return std::string("\x93NUMPY\x01\x00", 8) + length + std::string(1, '\0') + dictionary + data;
}

std::string npy_bytes(const std::string& shape, const std::string& data) {
  return npy("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

void expect_refused_data(const std::string& bytes, const std::string& part) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = temporary_file(std::string(test->name()) + ".npy", bytes);
  expect_refused({"tour", "costs", "--data", path}, part);
  std::remove(path.c_str());
}

TEST(Cli, HelpShowsCommandsAndAnExample) {
  const Finished r = run_program({"--help"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.err, "");
  for (const char* part : {"anadrome", "tour", "Example", "anadrome tour costs", "--version"})
    EXPECT_NE(r.out.find(part), std::string::npos) << part;
}

TEST(Cli, HelpOfTheCommandShowsItsOptions) {
  const Finished r = run_program({"tour", "costs", "--help"});
  EXPECT_EQ(r.exit_code, 0);
  for (const char* part : {"--json", "--data FILE", "--epochs N", "--seeds N", "--progress", "Example"})
    EXPECT_NE(r.out.find(part), std::string::npos) << part;
}

TEST(Cli, VersionIsOneLine) {
  const Finished r = run_program({"--version"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.out.rfind("anadrome ", 0), 0u);
  EXPECT_EQ(r.out.find('\n'), r.out.size() - 1);
}

TEST(Cli, RefusesWrongCommands) {
  expect_refused({}, "subcommand is required");
  expect_refused({"tour"}, "subcommand is required");
  expect_refused({"travel"}, "'travel'");
  expect_refused({"tour", "prices"}, "'prices'");
  expect_refused({"--colour"}, "'--colour'");
  expect_refused({"tour", "costs", "--colour"}, "--colour");
}

TEST(Cli, RefusesWrongNumbers) {
  expect_refused({"tour", "costs", "--epochs", "0"}, "--epochs");
  expect_refused({"tour", "costs", "--epochs", "many"}, "--epochs");
  expect_refused({"tour", "costs", "--seeds", "-1"}, "--seeds");
  expect_refused({"tour", "costs", "--seeds", "2.5"}, "--seeds");
  expect_refused({"tour", "costs", "--seeds"}, "--seeds");
}

TEST(Cli, RefusesDataThatCannotBeRead) {
  expect_refused({"tour", "costs", "--data", "/nowhere/digits.npy"}, "/nowhere/digits.npy: cannot be opened");
  expect_refused({"tour", "costs", "--data", "/"}, "is a folder");
}

TEST(Cli, RefusesFilesThatAreNoNpyFile) {
  expect_refused_data("", "is not a .npy file");
  expect_refused_data("pixel,pixel,label\n1,2,3\n", "is not a .npy file");
  expect_refused_data(std::string("\x93NUMPY\x01\x00\xff\xff", 10) + "{", "ends inside its header");
  expect_refused_data(npy("{'shape': (2, 2)}", ""), "'fortran_order':");
}

TEST(Cli, RefusesNpyFilesOfOtherKinds) {
  expect_refused_data(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}", "1234"), "column by column");
  expect_refused_data(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}", "12345678"), "'<i8'");
  expect_refused_data(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-2, 2)}", ""), "its shape holds");
  expect_refused_data(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999, 99999999)}", ""),
                      "too large");
  expect_refused_data(npy_bytes("(2, 2)", "123"), "holds 3 bytes of elements; its shape [2,2] needs 4");
}

TEST(Cli, RefusesNumbersThatAreNoDigits) {
  expect_refused_data(npy_bytes("(4,)", "1234"), "has shape [4]");
  expect_refused_data(npy_bytes("(2, 2)", "1234"), "at least 10 rows");
  expect_refused_data(npy_bytes("(10, 2)", std::string(20, '\x0a')), "labels 0 ... 9");
}

}  // namespace
}  // namespace anadrome::testing
