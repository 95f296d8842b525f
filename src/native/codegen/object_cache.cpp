// ObjectCache: one file an object, written aside and renamed, checked when read.
#include "native/codegen/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/intern.h"

namespace anadrome {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t format = 1;
constexpr std::size_t hash_digits = 32;
constexpr std::string_view suffix = ".kernel", unfinished = ".kernel-part";
constexpr std::uint64_t stores_between_prunes = 256;

/// What a file starts with. Numbers in the order of bytes of the machine: another order gives another format.
struct Header {
  std::array<char, 8> magic = {'A', 'n', 'a', 'd', 'r', 'o', 'm', 'e'};
  std::uint64_t version = format;
  std::uint64_t key = 0, symbols = 0, object = 0;  // bytes of the parts, which follow in this order
  std::uint64_t checksum = 0;                      // of the parts
  friend bool operator==(const Header&, const Header&) = default;
};

std::uint64_t hash_words(std::string_view bytes) {
  std::uint64_t h = mix(0, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    h = mix(h, word);
  }
  return h;
}

/// An open file, closed when this goes.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  ~File() {
    if (is_open()) ::close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The whole of a plain file.
std::optional<std::string> read_file(const fs::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // never waits, should it be a pipe
  struct stat status = {};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size < 0 || static_cast<std::uintmax_t>(status.st_size) > ObjectCache::default_bytes)
    return std::nullopt;
  std::string out(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::read(file.descriptor(), out.data() + done, out.size() - done);
    if (n > 0) done += static_cast<std::size_t>(n);
    else if (n == 0 || errno != EINTR) return std::nullopt;
  }
  return out;
}

std::string file_text(const std::string& key, const ObjectCache::Entry& entry) {
  Header header;
  header.key = key.size();
  header.symbols = entry.symbols.size();
  header.object = entry.object.size();
  std::string out(sizeof header, '\0');
  out.append(key).append(entry.symbols).append(entry.object);
  header.checksum = hash_words(std::string_view(out).substr(sizeof header));
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

std::optional<ObjectCache::Entry> entry_of(std::string_view text, const std::string& key) {
  Header header;
  if (text.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, text.data(), sizeof header);
  text.remove_prefix(sizeof header);
  Header expected;
  expected.key = key.size();
  expected.symbols = header.symbols;
  expected.object = header.object;
  expected.checksum = hash_words(text);
  if (header != expected || text.size() < key.size()) return std::nullopt;
  if (text.substr(0, key.size()) != key) return std::nullopt;
  text.remove_prefix(key.size());
  if (header.symbols > text.size() || text.size() - header.symbols != header.object) return std::nullopt;
  return ObjectCache::Entry{std::string(text.substr(0, header.symbols)), std::string(text.substr(header.symbols))};
}

std::string hexadecimal(std::uint64_t v) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(v));
  return digits.data();
}

/// True for names that only this class gives.
bool is_ours(const std::string& name) {
  const std::string_view text(name);
  return text.size() > hash_digits && text.substr(0, hash_digits).find_first_not_of("0123456789abcdef") == text.npos &&
         (text.substr(hash_digits) == suffix || text.ends_with(unfinished));
}

const char* folder_of_environment() {
#if defined(__GLIBC__)
  return ::secure_getenv("ANADROME_CACHE_DIR");
#else
  return std::getenv("ANADROME_CACHE_DIR");
#endif
}

}  // namespace

ObjectCache::ObjectCache(const fs::path& folder, std::uintmax_t most_bytes) : most_bytes_(most_bytes) {
  std::error_code error;
  folder_ = fs::absolute(folder, error);  // the program may change its working folder
  if (error) folder_ = folder;
}

ObjectCache* ObjectCache::of_process() {
  static ObjectCache* cache = [] {
    const char* folder = folder_of_environment();
    return folder && *folder ? new ObjectCache(folder) : nullptr;  // never destroyed: threads may end after it
  }();
  return cache;
}

std::string ObjectCache::hash(const std::string& key) { return hexadecimal(hash_text(key)) + hexadecimal(hash_words(key)); }

fs::path ObjectCache::file(const std::string& key) const {
  std::string name = hash(key);
  name += suffix;
  return folder_ / name;
}

std::optional<ObjectCache::Entry> ObjectCache::load(const std::string& key) const {
  const auto text = read_file(file(key));
  return text ? entry_of(*text, key) : std::nullopt;
}

/// Writes a new file; false, and no file, when that fails.
bool ObjectCache::write(const fs::path& path, const std::string& bytes) const {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  constexpr mode_t readable = 0644, searchable = 0755;
  int descriptor = ::open(path.c_str(), flags, readable);
  if (descriptor < 0 && errno == ENOENT && ::mkdir(folder_.c_str(), searchable) == 0)
    descriptor = ::open(path.c_str(), flags, readable);
  const File file(descriptor);
  if (!file.is_open()) return false;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(file.descriptor(), bytes.data() + done, bytes.size() - done);
    if (n > 0) done += static_cast<std::size_t>(n);
    else if (n == 0 || errno != EINTR) break;
  }
  if (done == bytes.size()) return true;
  ::unlink(path.c_str());
  return false;
}

void ObjectCache::store(const std::string& key, const Entry& entry) {
  const std::uint64_t count = stored_++;
  const fs::path whole = file(key);
  // Processes of several machines may share the folder, and their numbers of processes may be the same.
  static const auto start = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  fs::path part = whole;
  part.replace_extension(hexadecimal(mix(start, static_cast<std::uint64_t>(::getpid()))) + hexadecimal(count) +
                         std::string(unfinished));
  if (!write(part, file_text(key, entry))) return;
  if (::rename(part.c_str(), whole.c_str()) != 0) ::unlink(part.c_str());
  if (count % stores_between_prunes == 0) prune();
}

void ObjectCache::prune() const {
  struct Kept {
    fs::file_time_type time;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Kept> files;
  std::uintmax_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // removed by another process
    if (!is_ours(it->path().filename().string()) || !it->is_regular_file(gone)) continue;
    const Kept k{it->last_write_time(gone), it->file_size(gone), it->path()};
    if (gone) continue;
    total += k.bytes;
    files.push_back(k);
  }
  if (total <= most_bytes_) return;
  std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) { return a.time < b.time; });
  for (const Kept& k : files) {
    if (total <= most_bytes_ / 4 * 3) break;
    fs::remove(k.path, error);
    total -= k.bytes;
  }
}

}  // namespace anadrome
