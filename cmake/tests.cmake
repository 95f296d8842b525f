# tests/<folder>/*.cpp     one GoogleTest program test_<folder>; folders named slow_* get the label "slow"
# tests/support/*.cpp      helpers, linked into every one of them
# tests/conformance/*.cpp  the program `conformance`, run on the tables in tests/golden
# tests/noncompile/*.cpp   each compiled twice by tools/noncompile.py: as is, and with -DBAD, which must fail
set(tests_dir ${PROJECT_SOURCE_DIR}/tests)
set(tests_bin ${PROJECT_BINARY_DIR}/tests)
file(GLOB test_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${tests_dir} ${tests_dir}/*)

add_library(anadrome_test_settings INTERFACE)
target_include_directories(anadrome_test_settings INTERFACE ${PROJECT_SOURCE_DIR}/src ${tests_dir})
target_compile_definitions(anadrome_test_settings INTERFACE ANADROME_TESTS_DIR="${tests_dir}")
target_link_libraries(anadrome_test_settings INTERFACE anadrome anadrome_settings)
# What is tested is the library at its own level; compiling the tests themselves is to be quick.
target_compile_options(anadrome_test_settings INTERFACE $<$<CONFIG:Release>:-O1>)

file(GLOB_RECURSE support_sources CONFIGURE_DEPENDS ${tests_dir}/support/*.cpp)
set(gtest_folders ${test_folders})
list(REMOVE_ITEM gtest_folders support conformance noncompile)
foreach(folder IN LISTS gtest_folders)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${tests_dir}/${folder}/*.cpp)
  if(NOT sources)
    continue()
  endif()
  if(NOT TARGET anadrome_test_pch)
    find_package(GTest REQUIRED)
    file(WRITE ${PROJECT_BINARY_DIR}/test_pch.cpp "namespace anadrome {}\n")
    # The helpers live here too, so that every test shares one precompiled header.
    add_library(anadrome_test_pch STATIC ${PROJECT_BINARY_DIR}/test_pch.cpp ${support_sources})
    target_link_libraries(anadrome_test_pch PUBLIC anadrome_test_settings GTest::gtest GTest::gtest_main)
    target_precompile_headers(anadrome_test_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled_tests.h)
  endif()
  set(name test_${folder})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE anadrome_test_pch)
  target_precompile_headers(${name} REUSE_FROM anadrome_test_pch)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${tests_bin})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(folder STREQUAL "cli" AND TARGET anadrome_cli)   # these tests run the program
    add_dependencies(${name} anadrome_cli)
  endif()
  if(folder MATCHES "^slow_")
    set_tests_properties(${name} PROPERTIES LABELS slow)
  endif()
endforeach()

file(GLOB_RECURSE conformance_sources CONFIGURE_DEPENDS ${tests_dir}/conformance/*.cpp)
if(conformance_sources)
  find_package(nlohmann_json REQUIRED)
  add_executable(conformance ${conformance_sources})
  target_link_libraries(conformance PRIVATE anadrome_test_settings nlohmann_json::nlohmann_json)
  set_target_properties(conformance PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${tests_bin})
  set(known_native --known tests/golden/known_program_differences.txt)
  foreach(backend native eval)
    add_test(NAME conformance_ops_${backend} COMMAND conformance --backend ${backend}
      --known tests/golden/known_differences.txt tests/golden/ops.json WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME conformance_programs_${backend} COMMAND conformance --backend ${backend}
      ${known_${backend}} tests/golden/programs.json WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endforeach()
endif()

file(GLOB noncompile_sources CONFIGURE_DEPENDS ${tests_dir}/noncompile/*.cpp)
if(noncompile_sources)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME noncompile COMMAND ${Python3_EXECUTABLE} tools/noncompile.py --compiler ${CMAKE_CXX_COMPILER}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
