// Runs the built program `anadrome` and keeps what it prints.
#include "run_program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace anadrome::testing {
namespace {

/// The test program lies in build/.../tests, the program in build/.../bin.
std::string program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin/anadrome").string();
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string take_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  std::filesystem::remove(path);
  return text;
}

}  // namespace

Finished run_program(const std::vector<std::string>& arguments) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string base = ::testing::TempDir() + "anadrome_" + test->test_suite_name() + "_" + test->name();
  std::string command = quoted(program());
  for (const std::string& a : arguments) command += " " + quoted(a);
  command += " </dev/null >" + quoted(base + ".out") + " 2>" + quoted(base + ".err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, take_file(base + ".out"), take_file(base + ".err")};
}

std::string temporary_file(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "anadrome_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace anadrome::testing
