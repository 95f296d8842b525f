// A vector of trivially copyable elements that keeps short contents inside itself: shapes and operand lists are
// short, and recording must not pay an allocation for each of them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace anadrome::detail {

template <class T, std::uint32_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  InlineVector() {}
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  template <std::forward_iterator It>
  InlineVector(It first, It last) {
    reserve(static_cast<std::uint32_t>(std::distance(first, last)));
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }
  InlineVector(const InlineVector& o) { copy_from(o); }
  InlineVector(InlineVector&& o) noexcept { steal(o); }
  InlineVector& operator=(const InlineVector& o) {
    if (this != &o) {
      release();
      copy_from(o);
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& o) noexcept {
    if (this != &o) {
      release();
      steal(o);
    }
    return *this;
  }
  ~InlineVector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return capacity_ == N ? inline_data() : heap_; }
  const T* data() const { return capacity_ == N ? inline_data() : heap_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(std::size_t n, T value = T{}) {
    reserve(static_cast<std::uint32_t>(n));
    for (std::size_t i = size_; i < n; ++i) data()[i] = value;
    size_ = static_cast<std::uint32_t>(n);
  }
  void insert(std::size_t at, T value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(std::size_t at) {
    std::move(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  void reserve(std::uint32_t capacity) {
    if (capacity <= capacity_) return;
    T* bigger = new T[capacity];
    std::copy(begin(), end(), bigger);
    release();
    heap_ = bigger;
    capacity_ = capacity;
  }
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    if (a.size_ != b.size_) return false;
    const T *x = a.data(), *y = b.data();
    for (std::uint32_t i = 0; i < a.size_; ++i)  // short: a loop beats a call of memcmp
      if (!(x[i] == y[i])) return false;
    return true;
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  const T* inline_data() const { return reinterpret_cast<const T*>(inline_); }
  void release() {
    if (capacity_ != N) delete[] heap_;
    capacity_ = N;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // the copy takes the unused part along: one fixed size
#endif
  void copy_from(const InlineVector& o) {
    size_ = 0;
    if (o.capacity_ == N) {
      std::memcpy(inline_, o.inline_, sizeof inline_);
    } else {
      reserve(o.size_);
      std::copy(o.begin(), o.end(), data());
    }
    size_ = o.size_;
  }
  void steal(InlineVector& o) {
    size_ = o.size_;
    capacity_ = o.capacity_;
    if (o.capacity_ == N) std::memcpy(inline_, o.inline_, sizeof inline_);
    else heap_ = o.heap_;
    o.capacity_ = N;
    o.size_ = 0;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  std::uint32_t size_ = 0, capacity_ = N;
  union {
    alignas(T) unsigned char inline_[N * sizeof(T)];
    T* heap_;
  };
};

}  // namespace anadrome::detail
