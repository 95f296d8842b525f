# Compiler settings of everything built here. None of them reaches users of the installed library.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for to cache files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(anadrome_settings INTERFACE)
target_compile_options(anadrome_settings INTERFACE
  -Wall -Wextra $<$<BOOL:${ANADROME_WERROR}>:-Werror>
  -fno-math-errno -ffp-contract=off)            # results do not depend on the build type; never -ffast-math
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(anadrome_settings INTERFACE -fpch-preprocess)      # for ccache
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(anadrome_settings INTERFACE -Wno-restrict)       # false alarms: gcc bug 105651
  endif()
endif()

if(ANADROME_MARCH)
  target_compile_options(anadrome_settings INTERFACE -march=${ANADROME_MARCH})
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_compile_options(anadrome_settings INTERFACE -march=x86-64-v3)
endif()

if(ANADROME_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(ANADROME_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
elseif(ANADROME_SANITIZE)
  message(FATAL_ERROR "ANADROME_SANITIZE is '${ANADROME_SANITIZE}'; it must be address, thread or empty")
endif()
if(ANADROME_SANITIZE)
  target_compile_options(anadrome_settings INTERFACE ${sanitize})
  target_link_options(anadrome_settings INTERFACE ${sanitize})
endif()
