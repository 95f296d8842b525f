// Which kernels a product runs on: by its sizes and by how its operands lie.
#pragma once
#include "native/products/product.h"

namespace anadrome::products {

/// Sets all of choice but dtype, kernels and add, which it reads.
void choose(const Layout& layout, Choice& choice);
/// Bytes of working memory that one thread needs.
std::size_t workspace_bytes(const Layout& layout, const Choice& choice);
/// Estimated nanoseconds of one m x n x k product on one thread.
double estimated_nanoseconds(const Layout& layout, const Choice& choice);

}  // namespace anadrome::products
