# One library per layer. A layer's headers are include/chargpt/<layer>/, its sources src/<layer>/*.cpp.

add_library(chargpt_warnings INTERFACE)
target_compile_options(chargpt_warnings INTERFACE
  -Wall -Wextra -Wshadow -Werror=switch $<$<BOOL:${CHARGPT_WERROR}>:-Werror>)

function(chargpt_layer name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(chargpt_${name} STATIC ${sources})
  target_include_directories(chargpt_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  target_link_libraries(chargpt_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:chargpt_warnings>)
endfunction()
