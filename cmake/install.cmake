# After `cmake --install`, users write: find_package(anadrome) and link anadrome::anadrome.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anadrome)

install(TARGETS anadrome EXPORT anadrome_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/include)
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET anadrome_cli)
  install(TARGETS anadrome_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES examples/data/digits.npy DESTINATION ${CMAKE_INSTALL_DATADIR}/anadrome)
endif()
install(EXPORT anadrome_targets NAMESPACE anadrome:: FILE anadromeTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/anadromeConfig.cmake.in ${PROJECT_BINARY_DIR}/anadromeConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/anadromeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anadromeConfig.cmake ${PROJECT_BINARY_DIR}/anadromeConfigVersion.cmake
  DESTINATION ${package_dir})
