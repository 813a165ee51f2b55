# chargpt_embed_report(TARGET): the files of the report's page become part of the target. A change of one is seen at the
# next build.
function(chargpt_embed_report target)
  set(folder ${CMAKE_SOURCE_DIR}/src/app/report)
  foreach(name report.html report.css plot.js report.js)
    string(REPLACE "." "_" variable ${name})
    file(READ ${folder}/${name} ${variable})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${name})
  endforeach()
  configure_file(${CMAKE_SOURCE_DIR}/src/app/report_files.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/report_files.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report_files.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/app)
endfunction()
