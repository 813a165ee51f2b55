# One library per layer. A layer's headers are include/chargpt/<layer>/, its sources src/<layer>/*.cpp.

# What the optimizer guesses about code inlined from library headers differs between versions of a compiler and is often
# wrong (GCC 12 on std::string, GCC 14 on LibTorch's autograd): not asked for. The sanitizers see what is true of it.
set(guesses array-bounds maybe-uninitialized restrict stringop-overflow stringop-overread)
list(TRANSFORM guesses PREPEND -Wno-)

add_library(chargpt_warnings INTERFACE)
target_compile_options(chargpt_warnings INTERFACE
  -Wall -Wextra -Wshadow -Werror=switch $<$<BOOL:${CHARGPT_WERROR}>:-Werror> "$<$<CXX_COMPILER_ID:GNU>:${guesses}>")

function(chargpt_layer name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(chargpt_${name} STATIC ${sources})
  target_include_directories(chargpt_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  target_link_libraries(chargpt_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:chargpt_warnings>)
endfunction()
