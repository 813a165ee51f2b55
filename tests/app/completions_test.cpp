#include "app/support.hpp"

namespace chargpt {
namespace {

class Completions : public ProgramTest {
 protected:
  std::string of(std::vector<std::string> words) const {
    words.insert(words.begin(), {"completions", "bash", "--"});
    const ProgramResult result = chargpt(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
};

TEST_F(Completions, AreCommandsFlagsKeysAndValues) {
  EXPECT_EQ(of({"tr"}), "train\n");
  EXPECT_NE(of({""}).find("sample\n"), std::string::npos);
  EXPECT_EQ(of({"config", "sc"}), "schema\n");
  EXPECT_EQ(of({"train", "--over"}), "--overwrite\n");
  EXPECT_EQ(of({"train", "--set", "model.wid"}), "model.width=\n");
  EXPECT_EQ(of({"train", "--overwrite", "--set", "model.attention=f"}), "model.attention=fused\n");
  EXPECT_EQ(of({"train", "--resume", "a"}), "auto\n");
  EXPECT_EQ(of({"eval", "--mode", ""}), "random\nsliding\nwindows\n");
}

TEST_F(Completions, LeaveFilesToTheShell) {
  EXPECT_EQ(of({"train", "--config", ""}), "");
  EXPECT_EQ(of({"train", "--config", "c.json", "--data", "t"}), "");
}

TEST_F(Completions, WorkInBash) {
  const std::string script = "PATH=" + std::filesystem::path(CHARGPT_PROGRAM).parent_path().string() +
                             ":$PATH; source <(chargpt completions bash); complete -p chargpt; "
                             "try() { COMP_LINE=$1 COMP_POINT=${#1}; _chargpt chargpt; echo \"${COMPREPLY[*]}\"; }; "
                             "try 'chargpt confi'; try 'chargpt train --set model.at'; "
                             "try 'chargpt train --set model.attention=na'; try 'chargpt eval --mode '";
  ProgramOptions options;
  options.folder = dir_.path();
  const ProgramResult result = run_program({"/bin/bash", "-c", script}, options);
  EXPECT_EQ(result.out,
            "complete -o default -F _chargpt chargpt\nconfig\nmodel.attention=\nnative\nrandom sliding windows\n")
      << result.err;
}

TEST_F(Completions, OfAnUnknownShellAreRefused) {
  expect_error(chargpt({"completions", "tcsh"}), 2, {"tcsh", "bash, zsh and fish"});
}

}  // namespace
}  // namespace chargpt
