// Trains a small model on a text file and lets it write, all through the library: embed FILE [STEPS]

#include <chargpt/engine/model_logits.hpp>
#include <chargpt/engine/trainer.hpp>
#include <chargpt/sampling/generate.hpp>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: embed FILE [STEPS]\n"), 2;
  try {
    chargpt::Config config;
    config.data.path = argv[1];
    config.train.steps = argc > 2 ? std::atoi(argv[2]) : 300;
    config.model.width = 64;
    const chargpt::Corpus corpus = chargpt::load_corpus(config);

    chargpt::Trainer trainer(config, corpus);
    while (trainer.steps_done() < trainer.total_steps()) {
      const auto report = trainer.step();
      if (report->step % 50 == 0)
        std::fprintf(stderr, "step %ld: loss %.3f\n", static_cast<long>(report->step), report->loss);
    }

    const auto prompt = chargpt::encode_prompt("", corpus.tokenizer, "prompt");
    const auto print = [&](std::size_t, std::int32_t id) {
      return std::printf("%s", corpus.tokenizer.symbol(id).c_str()) >= 0;
    };
    chargpt::generate(chargpt::model_logits(trainer.passes()), corpus.tokenizer, config.model.context,
                      {{prompt, config.sample}}, print);
    std::printf("\n");
    return 0;
  } catch (const chargpt::Error& error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), static_cast<int>(error.code());
  }
}
