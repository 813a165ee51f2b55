# Debian's packages. One that is absent or too old stops the build with its name and the version wanted.

function(chargpt_require package version debian_name)
  find_package(${package} ${version} QUIET)
  if(NOT ${package}_FOUND)
    set(found "not found")
    if(${package}_CONSIDERED_VERSIONS)
      set(found "only version ${${package}_CONSIDERED_VERSIONS} found")
    endif()
    message(FATAL_ERROR "${package} ${version} or newer is needed, ${found}. "
                        "Run ./dev setup, or: apt-get install ${debian_name}")
  endif()
  message(STATUS "${package} ${${package}_VERSION}")
endfunction()

# find_package inside a function leaves its imported targets visible in this directory only if they are global.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

chargpt_require(nlohmann_json 3.11 nlohmann-json3-dev)
chargpt_require(fmt 9 libfmt-dev)
chargpt_require(spdlog 1.10 libspdlog-dev)
chargpt_require(CLI11 2.1 libcli11-dev)
chargpt_require(hwy 1.0.3 libhwy-dev)

# utf8cpp's package refuses a request for 3.x where 4.x is installed, although both serve; its header is all there is to it.
find_path(UTF8CPP_INCLUDE_DIR utf8.h PATH_SUFFIXES utf8cpp)
if(NOT UTF8CPP_INCLUDE_DIR)
  message(FATAL_ERROR "utf8cpp 3.2 or newer is needed, not found. Run ./dev setup, or: apt-get install libutfcpp-dev")
endif()

# xxHash in Debian has a pkg-config file and no CMake package; its header alone is enough (XXH_INLINE_ALL).
find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxHash 0.8 or newer is needed, not found. Run ./dev setup, or: apt-get install libxxhash-dev")
endif()
file(STRINGS ${XXHASH_INCLUDE_DIR}/xxhash.h xxhash_minor REGEX "^#define XXH_VERSION_MINOR +[0-9]+")
if(NOT xxhash_minor MATCHES " ([0-9]+)$" OR CMAKE_MATCH_1 LESS 8)
  message(FATAL_ERROR "xxHash 0.8 or newer is needed; ${XXHASH_INCLUDE_DIR}/xxhash.h is older. Run ./dev setup")
endif()

# utf8proc in Debian has a pkg-config file and no CMake package.
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h)
find_library(UTF8PROC_LIBRARY utf8proc)
if(NOT UTF8PROC_INCLUDE_DIR OR NOT UTF8PROC_LIBRARY)
  message(FATAL_ERROR "utf8proc 2.8 or newer is needed, not found. Run ./dev setup, or: apt-get install libutf8proc-dev")
endif()

# zstd and uchardet have pkg-config files, and a CMake package in newer versions only.
foreach(library zstd uchardet)
  string(TOUPPER ${library} NAME)
  find_path(${NAME}_INCLUDE_DIR ${library}.h PATH_SUFFIXES ${library})
  find_library(${NAME}_LIBRARY ${library})
  if(NOT ${NAME}_INCLUDE_DIR OR NOT ${NAME}_LIBRARY)
    message(FATAL_ERROR "${library} is needed, not found. Run ./dev setup, or: apt-get install lib${library}-dev")
  endif()
endforeach()
chargpt_require(ZLIB 1.2.11 zlib1g-dev)

if(CHARGPT_TESTS)
  chargpt_require(GTest 1.12 libgtest-dev)
endif()
if(CHARGPT_BENCHMARKS)
  chargpt_require(benchmark 1.7 libbenchmark-dev)
endif()
if(CHARGPT_ENGINE)
  include(cmake/LibTorch.cmake)
endif()
