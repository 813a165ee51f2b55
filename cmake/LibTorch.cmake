# Imported targets for LibTorch, made by hand: find_package(Torch) of a CUDA build demands nvcc and a matching toolkit,
# which neither building nor running needs. The CUDA library is opened at run time when it is asked for.
#
# The folder comes from CHARGPT_TORCH, else from .deps/ (./dev setup puts it there), else from CMAKE_PREFIX_PATH.

set(CHARGPT_TORCH_OLDEST 2.11)
set(CHARGPT_TORCH_NEWEST 2.15)

if(CHARGPT_TORCH)
  set(torch_hints ${CHARGPT_TORCH})
else()
  file(GLOB torch_hints ${CMAKE_CURRENT_LIST_DIR}/../.deps/python/lib/python3*/site-packages/torch)
  list(APPEND torch_hints ${CMAKE_PREFIX_PATH})
endif()

find_path(CHARGPT_TORCH_INCLUDE ATen/ATen.h HINTS ${torch_hints} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
if(NOT CHARGPT_TORCH_INCLUDE)
  message(FATAL_ERROR "LibTorch not found (looked in: ${torch_hints}). Run ./dev setup, or name one: "
                      "-DCHARGPT_TORCH=DIR, the folder that holds include/ATen and lib/libtorch_cpu.so")
endif()
get_filename_component(CHARGPT_TORCH_ROOT ${CHARGPT_TORCH_INCLUDE} DIRECTORY)
# .deps/ is a link into a cache that outlives the checkout, and so does what is installed from here.
file(REAL_PATH ${CHARGPT_TORCH_ROOT} CHARGPT_TORCH_ROOT)

# Newer versions keep the number in headeronly/, older ones in the header of the C++ interface.
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS ${CHARGPT_TORCH_INCLUDE}/${header} AND NOT torch_minor)
    file(STRINGS ${CHARGPT_TORCH_INCLUDE}/${header} lines REGEX "^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers "." CHARGPT_TORCH_VERSION)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" torch_minor "${CHARGPT_TORCH_VERSION}")
  endif()
endforeach()
message(STATUS "LibTorch ${CHARGPT_TORCH_VERSION} in ${CHARGPT_TORCH_ROOT}")
if(torch_minor VERSION_LESS CHARGPT_TORCH_OLDEST OR torch_minor VERSION_GREATER CHARGPT_TORCH_NEWEST)
  message(FATAL_ERROR "LibTorch ${CHARGPT_TORCH_VERSION} is not supported: ${CHARGPT_TORCH_OLDEST} to "
                      "${CHARGPT_TORCH_NEWEST} are. Run ./dev setup for the pinned one, or name another with -DCHARGPT_TORCH=DIR")
endif()

foreach(library c10 torch_cpu)
  find_library(path_${library} ${library} HINTS ${CHARGPT_TORCH_ROOT}/lib NO_DEFAULT_PATH NO_CACHE REQUIRED)
  add_library(LibTorch::${library} SHARED IMPORTED GLOBAL)
  set_target_properties(LibTorch::${library} PROPERTIES IMPORTED_LOCATION ${path_${library}})
endforeach()
# LibTorch's include folder holds copies of fmt and others. -idirafter has it searched behind the system's folders, so that
# one program sees one fmt.
foreach(folder ${CHARGPT_TORCH_INCLUDE} ${CHARGPT_TORCH_INCLUDE}/torch/csrc/api/include)
  target_compile_options(LibTorch::torch_cpu INTERFACE "SHELL:-idirafter ${folder}")
endforeach()
target_link_libraries(LibTorch::torch_cpu INTERFACE LibTorch::c10)
# libtorch_cpu.so is itself linked to these; the linker has to find them to check for unresolved symbols.
file(GLOB torch_runtime_folders ${CHARGPT_TORCH_ROOT}/../nvidia/*/lib)
set(CHARGPT_TORCH_RPATH ${CHARGPT_TORCH_ROOT}/lib ${torch_runtime_folders})
foreach(folder ${torch_runtime_folders})
  target_link_options(LibTorch::torch_cpu INTERFACE "LINKER:-rpath-link,${folder}")
endforeach()
