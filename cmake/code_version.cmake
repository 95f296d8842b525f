# cmake -DOUT=FILE -DVERSION=V -DSOURCES=LIST -P code_version.cmake: writes FILE, which defines code_version().
# The sources are hashed, so that objects cached by one state of the code generator are not found by another.
set(hashes "")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} hash)
  get_filename_component(name ${source} NAME)
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE ${OUT} "// Written by cmake/code_version.cmake.
#include \"native/codegen/object_cache.h\"
std::string anadrome::code_version() { return \"${VERSION} ${hash}\"; }
")
