// How many threads the library computes on.
#pragma once

namespace anadrome {

/// Sets on how many threads (1 to 1024, the calling one included) runs may compute from now on. Takes effect at the
/// next run. Results have the same bits with any number of threads, but for gradients of long loops that run in blocks of rows
/// (docs/kernels.md): their sums are of as many parts as there were threads when they were compiled.
/// Throws TypeError for any other number. Example: `set_num_threads(1)`.
void set_num_threads(int threads);

/// The number of threads runs compute on: what was set last, else the environment variable ANADROME_NUM_THREADS, else
/// the processors this process may use. Throws TypeError when the variable is no number from 1 to 1024.
int num_threads();

}  // namespace anadrome
