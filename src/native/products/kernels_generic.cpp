// The kernels in plain C++ over vectors of 128 bits, for any machine; compiled so that a * b + c is one
// operation where there is one.
#include "native/products/tiles.h"

namespace anadrome::products {
namespace {

inline float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

template <class Element> struct Plain {
  using T = Element;
  static constexpr int lanes = 16 / sizeof(T);
  typedef T V __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  using Part = int;
  static constexpr int usual_vectors = 2;
  static constexpr int rows_of(int vectors) {
    constexpr int rows[] = {0, 8, 6, 4, 3, 2, 2, 1, 1};
    return rows[vectors];
  }
  static V zero() { return V{}; }
  static V load(const T* p) { return *reinterpret_cast<const V*>(p); }
  static void store(T* p, V v) { *reinterpret_cast<V*>(p) = v; }
  static V broadcast(const T* p) { return *p - V{}; }  // not V{} + *p, which would lose the sign of -0
  static V multiply_add(V a, V b, V c) {
    for (int i = 0; i < lanes; ++i) c[i] = fused(a[i], b[i], c[i]);
    return c;
  }
  static T multiply_add_one(T a, T b, T c) { return fused(a, b, c); }
  static V add(V a, V b) { return a + b; }
  static Part part(int count) { return count; }
  static V load_part(const T* p, Part part) {
    V v{};
    for (int i = 0; i < part; ++i) v[i] = p[i];
    return v;
  }
  static void store_part(T* p, Part part, V v) {
    for (int i = 0; i < part; ++i) p[i] = v[i];
  }
  static T sum(V v) {
    T lane[lanes];
    store(lane, v);
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
    return lane[0];
  }
  static void transpose(const T* from, Index row, T* to, Index to_row) {
    for (int i = 0; i < lanes; ++i)
      for (int j = 0; j < lanes; ++j) to[j * to_row + i] = from[i * row + j];
  }
};

}  // namespace

constinit const KernelSet generic_kernels = {"generic", kernels_of<Plain<float>>(),
                                             kernels_of<Plain<double>>()};

}  // namespace anadrome::products
