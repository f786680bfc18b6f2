# The install tree: headers, the layers as static libraries, and what find_package(lanewise) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/lanewise)
get_property(layers GLOBAL PROPERTY LANEWISE_LAYERS)
install(TARGETS lanewise ${layers} EXPORT lanewiseTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lanewiseTargets NAMESPACE lanewise:: DESTINATION ${package_directory}
  COMPONENT development)

# Backends and check.h are ours alone: no public header includes them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lanewise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN *.h PATTERN *.def
  PATTERN backend EXCLUDE PATTERN check.h EXCLUDE)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/lanewiseConfig.cmake.in
  ${PROJECT_BINARY_DIR}/lanewiseConfig.cmake INSTALL_DESTINATION ${package_directory}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lanewiseConfig.cmake
  ${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake
  DESTINATION ${package_directory} COMPONENT development)
