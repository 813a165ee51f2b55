#include "chargpt/app/arguments.hpp"
#include "chargpt/app/engine_library.hpp"
#include "chargpt/app/resolve.hpp"
#include "chargpt/base/machine.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/table.hpp"

namespace chargpt {

int run_doctor(const Arguments& arguments) {
  Request request = make_request(Command::doctor, arguments, resolve_config(arguments).config);
  request.numerics = arguments.numerics;
  try {
    return run_engine(request);
  } catch (const Error& error) {  // the engine cannot be opened: what is known without it, and why
    Json facts = machine_facts();
    facts["libtorch"] = nullptr;
    facts["problem"] = error.what();
    Json document = {{"v", 1}};
    document.update(facts);
    write_output(arguments.json ? to_json_line(document) + "\n" : to_lines(facts));
    return static_cast<int>(error.code());
  }
}

}  // namespace chargpt
