# cmake --install: the program in bin/, and, with the engine, the library, its headers and a CMake package "chargpt".
# The program opens ../lib/libchargpt.so beside itself, so the library's folder is plain lib/, whatever the
# distribution's own name for it (CMAKE_INSTALL_LIBDIR) is.

install(TARGETS chargpt RUNTIME DESTINATION bin)

if(CHARGPT_ENGINE)
  include(CMakePackageConfigHelpers)
  set(package_folder lib/cmake/chargpt)

  target_compile_features(chargpt_library INTERFACE cxx_std_20)
  install(TARGETS chargpt_library EXPORT chargptTargets LIBRARY DESTINATION lib)
  install(DIRECTORY include/chargpt DESTINATION include FILES_MATCHING PATTERN "*.hpp")

  install(EXPORT chargptTargets NAMESPACE chargpt:: DESTINATION ${package_folder})
  configure_package_config_file(cmake/chargptConfig.cmake.in chargptConfig.cmake INSTALL_DESTINATION ${package_folder})
  write_basic_package_version_file(chargptConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/chargptConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/chargptConfigVersion.cmake
    cmake/LibTorch.cmake
    DESTINATION ${package_folder})
endif()
