// The cache of objects on disk: found by later processes, never wrong, whatever is in the folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "anadrome/compile.h"
#include "core/prim.h"
#include "native/codegen/object_cache.h"
#include "native/emittable.h"
#include "native/kernels.h"
#include "native/vector_math.h"
#include "support/random_program.h"

extern char** environ;

namespace anadrome {
namespace {

namespace fs = std::filesystem;
using Entry = ObjectCache::Entry;

/// A folder that is there while this lives.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "anadrome_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}
std::vector<fs::path> files(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& f : fs::directory_iterator(folder)) out.push_back(f.path());
  std::sort(out.begin(), out.end());
  return out;
}
/// The key in a file: behind six numbers, of which the third is its length.
std::string key_of(const fs::path& path) {
  const std::string text = read(path);
  std::uint64_t size = 0;
  std::memcpy(&size, text.data() + 16, 8);
  return text.substr(48, size);
}

// ---- files

TEST(ObjectCache, FindsWhatWasStoredUnderTheSameKeyOnly) {
  const Folder folder;
  ObjectCache cache(folder / "cache");
  const Entry entry{"f\ng\n", std::string("\0object\xff", 8)};
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", entry);
  EXPECT_EQ(cache.load("key"), entry);
  EXPECT_EQ(ObjectCache(folder / "cache").load("key"), entry);
  EXPECT_FALSE(cache.load("kez"));
  EXPECT_FALSE(cache.load(""));
  cache.store("", {});
  EXPECT_EQ(cache.load(""), Entry{});
  EXPECT_EQ(files(folder / "cache").size(), 2u);
}

TEST(ObjectCache, ATruncatedOrChangedFileIsNotThere) {
  const Folder folder;
  ObjectCache cache(folder / "cache");
  const Entry entry{"f\n", std::string(100, 'x')};
  cache.store("key", entry);
  const fs::path path = cache.file("key");
  const std::string whole = read(path);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write(path, whole.substr(0, n));
    EXPECT_FALSE(cache.load("key")) << n << " bytes";
    std::string changed = whole;
    changed[n] = static_cast<char>(changed[n] ^ (1 << n % 8));
    write(path, changed);
    EXPECT_FALSE(cache.load("key")) << "byte " << n;
  }
  write(path, whole + '\0');
  EXPECT_FALSE(cache.load("key"));
  write(path, "#!/bin/sh\n" + std::string(1000, ' '));
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", entry);
  EXPECT_EQ(read(path), whole);
}

TEST(ObjectCache, KeysOfTheSameHashAreTold) {
  const Folder folder;
  ObjectCache cache(folder / "cache");
  cache.store("one", {"", "object of one"});
  fs::copy_file(cache.file("one"), cache.file("two"));
  EXPECT_FALSE(cache.load("two"));
  EXPECT_TRUE(cache.load("one"));
}

TEST(ObjectCache, WhatIsNoFileIsNotRead) {
  const Folder folder;
  ObjectCache cache(folder / "cache");
  fs::create_directory(folder / "cache");
  ASSERT_EQ(mkfifo(cache.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(cache.load("pipe"));  // and does not wait for a writer
  cache.store("pipe", {"", "object"});
  EXPECT_TRUE(cache.load("pipe"));
  fs::create_directory(cache.file("folder"));
  EXPECT_FALSE(cache.load("folder"));
  cache.store("folder", {"", "object"});
  EXPECT_FALSE(cache.load("folder"));
  EXPECT_EQ(files(folder / "cache").size(), 2u);
}

TEST(ObjectCache, StoresNothingWhereItCannot) {
  const Folder folder;
  write(folder / "file", "text");
  for (const char* name : {"file", "missing/cache"}) {
    ObjectCache cache(folder / name);
    cache.store("key", {"", "object"});
    EXPECT_FALSE(cache.load("key"));
  }
  EXPECT_EQ(read(folder / "file"), "text");
  EXPECT_FALSE(fs::exists(folder / "missing"));
}

TEST(ObjectCache, RemovesTheOldestFilesAndNoOthers) {
  const Folder folder;
  const fs::path where = folder / "cache";
  ObjectCache large(where);
  for (int i = 0; i < 20; ++i) {
    const std::string key = std::to_string(i);
    large.store(key, {"", std::string(1000, 'x')});
    fs::last_write_time(large.file(key), fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
  }
  write(where / "notes.kernel", std::string(50'000, 'x'));
  ObjectCache small(where, 10'000);
  small.store("new", {"", "object"});
  std::uintmax_t bytes = 0;
  for (const fs::path& f : files(where))
    if (f.filename() != "notes.kernel") bytes += fs::file_size(f);
  EXPECT_LE(bytes, 7'500u);
  EXPECT_GT(bytes, 5'000u);
  EXPECT_TRUE(small.load("new"));
  EXPECT_TRUE(small.load("19"));
  EXPECT_FALSE(small.load("0"));
  EXPECT_TRUE(fs::exists(where / "notes.kernel"));
}

TEST(ObjectCache, ThreadsMayStoreAndLoadTheSame) {
  const Folder folder;
  const auto entry = [](int k) { return Entry{"f\n", std::string(5000 + k, static_cast<char>('a' + k))}; };
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  ObjectCache shared(folder / "cache");
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const int k = i % 5;
        const auto found = shared.load(std::to_string(k));
        wrong[t] += found && *found != entry(k);
        shared.store(std::to_string(k), entry(k));
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
  EXPECT_EQ(files(folder / "cache").size(), 5u);
}

// ---- processes

constexpr const char* output_variable = "ANADROME_TEST_OUTPUT";
constexpr const char* part_variable = "ANADROME_TEST_PART";

/// A program that calls every function generated code may call.
std::string all_functions_of(DType dtype) {
  const std::string type = std::string(tag(dtype)) + "[37]";
  std::string equations, outputs;
  for (const Prim* p : all_primitives()) {
    const auto f = scalar_function(p->name, dtype);
    if (emission(*p) != Emission::function || !f) continue;
    const std::string result = "r" + std::to_string(outputs.size());
    equations += result + ":" + type + " = " + std::string(p->name) + (f->operands == 2 ? " a b " : " a ");
    outputs += (outputs.empty() ? "" : ", ") + result;
  }
  return "{ lambda ; a:" + type + " b:" + type + " . let " + equations + " in (" + outputs + ") }";
}

std::vector<ProgramPtr> programs() {
  std::vector<ProgramPtr> out;
  const auto add = [&](Program p) { out.push_back(std::make_shared<const Program>(std::move(p))); };
  add(testing::random_program(1, 20));
  add(parse_program("{ lambda ; a:f32[100003] . let b:f32[100003] = mul a a c:f32[] = reduce_sum[axes=(0)] b in (c) }"));
  add(parse_program(all_functions_of(f32)));
  add(parse_program(all_functions_of(f64)));
  return out;
}

Array numbers(const Type& type) {
  Array out = uninitialized(type);
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    const double x = 0.01 + 0.9 * static_cast<double>(i % 997) / 997;
    if (type.dtype == f64) static_cast<double*>(mutable_data(out))[i] = x;
    else static_cast<float*>(mutable_data(out))[i] = static_cast<float>(x);
  }
  return out;
}

/// What other processes of the tests below do: run programs, write how many kernels were compiled and loaded, and the
/// bits of the results.
TEST(ObjectCacheProcess, DISABLED_Run) {
  const char* path = std::getenv(output_variable);
  ASSERT_TRUE(path);
  std::string out(16, '\0');
  std::vector<ProgramPtr> all = programs();
  if (std::getenv(part_variable)) all.erase(all.begin());
  for (const ProgramPtr& p : all) {
    Arrays x;
    for (const Type& t : p->input_types()) x.push_back(numbers(t));
    for (const Array& y : compile(p)->run(x)) out.append(static_cast<const char*>(data(y)), y.type().bytes());
  }
  const KernelStatistics statistics = kernel_statistics();
  std::memcpy(out.data(), &statistics.compiled, 8);
  std::memcpy(out.data() + 8, &statistics.loaded, 8);
  write(path, out);
}

struct Outcome {
  std::int64_t compiled = -1, loaded = -1;
  std::string results;
};

/// A process that runs the programs.
class Process {
 public:
  explicit Process(const char* cache, bool part = false) {
    std::vector<std::string> environment{output_variable + ("=" + (folder_ / "output").string())};
    if (cache) environment.push_back("ANADROME_CACHE_DIR=" + std::string(cache));
    if (part) environment.push_back(part_variable + std::string("=1"));
    for (char** v = environ; *v; ++v)
      if (std::strncmp(*v, "ANADROME_CACHE_DIR=", 19) != 0) environment.push_back(*v);
    std::vector<std::string> arguments{"test_native", "--gtest_filter=ObjectCacheProcess.DISABLED_Run",
                                       "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, (folder_ / "text").c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, pointers(arguments).data(), pointers(environment).data()))
      id_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  Process(const Process&) = delete;
  ~Process() { wait(); }

  Outcome result() {
    const int status = wait();
    const std::string text = read(folder_ / "text"), output = read(folder_ / "output");
    EXPECT_EQ(status, 0) << text;
    EXPECT_EQ(text.find("ANADROME_CACHE_DIR"), text.npos) << "the library prints: " << text;
    Outcome out;
    if (output.size() < 16) return out;
    std::memcpy(&out.compiled, output.data(), 8);
    std::memcpy(&out.loaded, output.data() + 8, 8);
    out.results = output.substr(16);
    return out;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& t : texts) out.push_back(t.data());
    out.push_back(nullptr);
    return out;
  }
  int wait() {
    int status = -1;
    if (id_ > 0) waitpid(std::exchange(id_, -1), &status, 0);
    return status;
  }

  Folder folder_;
  pid_t id_ = -1;
};

Outcome run(const fs::path& cache, bool part = false) { return Process(cache.c_str(), part).result(); }

/// Without a cache.
const Outcome& plain() {
  static const Outcome result = Process(nullptr).result();
  return result;
}

TEST(ObjectCacheProcess, OffUnlessAsked) {
  const Folder folder;
  EXPECT_GT(plain().compiled, 4);
  EXPECT_EQ(plain().loaded, 0);
  const Outcome empty = Process("").result();
  EXPECT_EQ(empty.compiled, plain().compiled);
  EXPECT_EQ(empty.loaded, 0);
}

TEST(ObjectCacheProcess, TheSecondProcessCompilesNothing) {
  const Folder folder;
  const fs::path cache = folder / "cache";
  const Outcome first = run(cache), second = run(cache);
  EXPECT_EQ(first.compiled, plain().compiled);
  EXPECT_EQ(first.loaded, 0);
  EXPECT_EQ(files(cache).size(), static_cast<std::size_t>(first.compiled));
  EXPECT_EQ(second.compiled, 0);
  EXPECT_EQ(second.loaded, first.compiled);
  EXPECT_TRUE(first.results == plain().results);
  EXPECT_TRUE(second.results == plain().results);
}

TEST(ObjectCacheProcess, KernelsAreSharedByDifferentSetsOfThem) {
  const Folder folder;
  const fs::path cache = folder / "cache";
  const Outcome some = run(cache, true), all = run(cache), again = run(cache, true);
  EXPECT_GT(some.compiled, 0);
  EXPECT_EQ(all.loaded, some.compiled);
  EXPECT_EQ(all.compiled, plain().compiled - some.compiled);
  EXPECT_EQ(again.compiled, 0);
  EXPECT_TRUE(all.results == plain().results);
}

/// Spoils a file, in one of several ways.
void spoil(const fs::path& file, std::size_t way) {
  const std::string whole = read(file);
  std::string bytes = whole;
  switch (way % 7) {
    case 0: bytes.resize(bytes.size() / 2); break;
    case 1: bytes.resize(bytes.size() - 1); break;
    case 2: bytes.resize(40); break;                               // of the header
    case 3: bytes[bytes.size() - 100] ^= 4; break;                 // of the object
    case 4: bytes[8] ^= 3; break;                                  // the number of the format
    case 5: bytes = "\x7f" "ELF" + std::string(whole.size(), 1); break;
    default: bytes.clear();
  }
  write(file, bytes);
  if (way % 11 == 10) fs::permissions(file, fs::perms::none);
}

TEST(ObjectCacheProcess, SpoiltFilesAreIgnoredAndReplaced) {
  const Folder folder;
  const fs::path cache = folder / "cache";
  run(cache);
  for (std::size_t round = 0; round < 7; ++round) {
    const std::vector<fs::path> all = files(cache);
    for (std::size_t i = 0; i < all.size(); ++i) spoil(all[i], i + round);
    const Outcome spoilt = run(cache);
    EXPECT_EQ(spoilt.compiled, plain().compiled);
    EXPECT_EQ(spoilt.loaded, 0);
    EXPECT_TRUE(spoilt.results == plain().results);
  }
  EXPECT_EQ(run(cache).compiled, 0);
}

TEST(ObjectCacheProcess, FilesThatAreWholeButNoObjectsAreIgnored) {
  const Folder folder;
  const fs::path where = folder / "cache";
  run(where);
  ObjectCache cache(where);
  const std::string key = key_of(files(where)[0]), other = key_of(files(where)[1]);
  const Entry mine = cache.load(key).value(), another = cache.load(other).value();
  for (const Entry& e : {Entry{"", "no object"}, Entry{"no_such_function\n", mine.object}, Entry{"cut", mine.object},
                         Entry{"", ""}, another}) {
    cache.store(key, e);
    const Outcome result = run(where);
    EXPECT_TRUE(result.results == plain().results);
    EXPECT_GT(result.compiled, 0);
  }
  cache.store(key, mine);
  EXPECT_EQ(run(where).compiled, 0);
}

TEST(ObjectCacheProcess, AFolderThatCannotBeUsedIsNoCache) {
  const Folder folder;
  write(folder / "file", "text");
  for (const fs::path& where : {folder / "file", folder / "missing/cache", fs::path("/proc/no/cache")}) {
    const Outcome result = run(where);
    EXPECT_EQ(result.compiled, plain().compiled);
    EXPECT_TRUE(result.results == plain().results);
  }
  EXPECT_EQ(read(folder / "file"), "text");
}

TEST(ObjectCacheProcess, ProcessesShareAFolder) {
  const Folder folder;
  const fs::path cache = folder / "cache";
  {
    Process a(cache.c_str()), b(cache.c_str(), true), c(cache.c_str()), d(cache.c_str(), true);
    for (Process* p : {&a, &c}) EXPECT_TRUE(p->result().results == plain().results);
    EXPECT_TRUE(b.result().results == d.result().results);
  }
  const Outcome after = run(cache);
  EXPECT_EQ(after.compiled, 0);
  EXPECT_TRUE(after.results == plain().results);
  EXPECT_EQ(files(cache).size(), static_cast<std::size_t>(after.loaded));  // nothing unfinished is left
}

}  // namespace
}  // namespace anadrome
