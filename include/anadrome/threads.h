// How many threads the library computes on.
#pragma once

namespace anadrome {

/// Sets on how many threads (1 to 1024, the calling one included) runs may compute from now on. Takes effect at the
/// next run. Results do not depend on it: they have the same bits with any number of threads.
/// Throws TypeError for any other number. Example: `set_num_threads(1)`.
void set_num_threads(int threads);

/// The number of threads runs compute on: what was set last, else the environment variable ANADROME_NUM_THREADS, else
/// the processors this process may use. Throws TypeError when the variable is no number from 1 to 1024.
int num_threads();

}  // namespace anadrome
