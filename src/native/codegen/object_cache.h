// Object files of kernels in a folder, for later processes. Knows bytes and files, and nothing of LLVM.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace anadrome {

/// Files of objects, found by a text that says all that the object depends on. Several threads and processes may use
/// one folder at once: a file appears under its name when it is whole. What cannot be read, or is not whole, or was
/// stored for another text, counts as not there; what cannot be written is not stored. Nothing here throws or prints
/// because of a file.
class ObjectCache {
 public:
  struct Entry {
    std::string symbols;  // functions that the object calls, each with a newline behind it
    std::string object;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  static constexpr std::uintmax_t default_bytes = std::uintmax_t{256} << 20;

  /// The folder is made when something is stored, if its parent exists. When the files take more than `most_bytes`,
  /// the oldest are removed until they take three quarters of that.
  explicit ObjectCache(const std::filesystem::path& folder, std::uintmax_t most_bytes = default_bytes);
  /// That of the folder that the environment variable ANADROME_CACHE_DIR named when this was first called; null when
  /// it is not set, or empty, or not to be trusted because the program runs with more rights than its user.
  static ObjectCache* of_process();

  std::optional<Entry> load(const std::string& key) const;
  void store(const std::string& key, const Entry& entry);
  /// 128 bits of hash in hexadecimal; the same in every process.
  static std::string hash(const std::string& key);
  std::filesystem::path file(const std::string& key) const;

 private:
  bool write(const std::filesystem::path& path, const std::string& bytes) const;
  void prune() const;

  std::filesystem::path folder_;
  std::uintmax_t most_bytes_;
  std::atomic<std::uint64_t> stored_ = 0;
};

/// Names the code generator: the version of the library and a hash of its sources.
/// Written by cmake/code_version.cmake.
std::string code_version();

}  // namespace anadrome
