# examples/*.cpp: one program each in build/.../examples, each run by ctest.
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS example_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE anadrome anadrome_settings)
  target_compile_options(example_${name} PRIVATE -Werror=comma-subscript)
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  add_test(NAME example_${name} COMMAND example_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endforeach()
