# The target `bench` builds into build/.../bench:
#   bench/*.cpp            one Google Benchmark program each
#   bench/workloads/*.cpp  the program `workloads`, which bench/compare.py runs beside other systems
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
file(GLOB workload_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/workloads/*.cpp)
find_package(benchmark QUIET)
find_library(OPENBLAS_LIBRARY openblas)
add_custom_target(bench)
if(NOT benchmark_FOUND)
  set(bench_sources "")
endif()
foreach(source IN LISTS bench_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(bench_${name} PRIVATE anadrome anadrome_settings benchmark::benchmark)
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(bench bench_${name})
endforeach()
if(TARGET bench_products)
  target_compile_options(bench_products PRIVATE -ffp-contract=fast)   # the tile written by hand is to be as fast as can be
  if(OPENBLAS_LIBRARY)
    target_compile_definitions(bench_products PRIVATE ANADROME_BENCH_OPENBLAS)
    target_link_libraries(bench_products PRIVATE ${OPENBLAS_LIBRARY})
  endif()
endif()

find_package(CLI11 QUIET)
find_package(nlohmann_json QUIET)
if(CLI11_FOUND AND nlohmann_json_FOUND)
  set(npy_folder ${PROJECT_SOURCE_DIR}/apps/anadrome)
  add_executable(bench_workloads EXCLUDE_FROM_ALL ${workload_sources} ${npy_folder}/npy.cpp)
  target_include_directories(bench_workloads PRIVATE ${npy_folder})
  target_link_libraries(bench_workloads PRIVATE
    anadrome anadrome_settings CLI11::CLI11 nlohmann_json::nlohmann_json)
  set_target_properties(bench_workloads PROPERTIES
    OUTPUT_NAME workloads RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(bench bench_workloads)
endif()
