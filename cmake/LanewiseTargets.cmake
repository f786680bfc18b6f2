# One function per kind of target.

# What every target of ours is compiled with. Contraction is off everywhere: the evaluator and the
# tile machine must not use fma where the program has a product and a sum.
function(lanewise_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    -Wno-missing-field-initializers -ffp-contract=off)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(LANEWISE_SANITIZE STREQUAL "address")
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
  elseif(LANEWISE_SANITIZE STREQUAL "thread")
    set(flags -fsanitize=thread)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  target_link_options(${target} PUBLIC ${flags})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fmt::fmt-header-only>)
endfunction()

# A layer: the folder of this name, all its sources, and the layers it may use.
function(lanewise_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  string(REPLACE "/" "_" target lanewise_${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(${target} STATIC ${sources})
  lanewise_compile_options(${target})
  string(REPLACE "/" "_" exported ${name})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${exported})
  set_property(GLOBAL APPEND PROPERTY LANEWISE_LAYERS ${target})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  foreach(used ${arg_USES})
    string(REPLACE "/" "_" used_target lanewise_${used})
    target_link_libraries(${target} PUBLIC ${used_target})
  endforeach()
endfunction()

# A program of ours that uses the whole library.
function(lanewise_executable name)
  add_executable(${name} ${ARGN})
  lanewise_compile_options(${name})
  target_link_libraries(${name} PRIVATE lanewise::lanewise)
endfunction()
