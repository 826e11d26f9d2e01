// A judge that stays: draws inputs for timed runs, and compares the outputs of some of them.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <sstream>

#include "tdd/judge/compare.h"
#include "tdd/judge/reference.h"
#include "tdd/judge/tally.h"
#include "tdd/judge/tensor_file.h"
#include "tdd/judge/wire.h"

namespace kb::test::internal {
namespace {

// Inputs that were drawn, and what is right for them once somebody has asked.
struct InputSet {
  int number = 0;
  uint64_t run = 0;
  const WorkloadTask* workload = nullptr;
  std::unique_ptr<Outputs> right;

  [[nodiscard]] int64_t KeptBytes() const {
    int64_t count = 0;
    if (right == nullptr) return 0;
    for (const auto* map : {&right->tensors(), &right->magnitudes()}) {
      for (const auto& [name, values] : *map) count += static_cast<int64_t>(values.size());
    }
    return count * static_cast<int64_t>(sizeof(double));
  }
};

int64_t BytesToKeep() { return sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE); }

class Session {
 public:
  void Draw(size_t workload, int number, const std::string& folder) {
    if (workload >= TheTask().workloads.size()) Fault("INFRA_ERROR", "no such timed workload");
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      Fault("INFRA_ERROR", "cannot make " + folder + ": " + std::strerror(errno));
    }
    sets_.remove_if([number](const InputSet& set) { return set.number == number; });
    sets_.push_back({number, ++draws_, &TheTask().workloads[workload], nullptr});
    WriteDrawnInputs(*sets_.back().workload, draws_, folder);
  }

  // Says one "compare" or "wrong-shape" an output.
  void Check(int number, const std::string& folder) {
    InputSet* set = Find(number);
    if (set == nullptr) Fault("INFRA_ERROR", "no inputs were drawn as this set");
    Answer(set);
    for (const TensorTask& output : TheTask().outputs) {
      std::string why;
      auto got = ReadTensor(folder + "/out." + output.name, *output.format,
                            CountOf(*set->workload, output.name), &why);
      if (!got) {
        Say("wrong-shape " + why);
        continue;
      }
      auto magnitude = set->right->magnitudes().find(output.name);
      const bool has_magnitude = magnitude != set->right->magnitudes().end();
      Say(CompareLine(set->workload->workload.index(), output.name,
                      Compare(*output.format, set->workload->allowed.at(output.name),
                              set->right->tensors().at(output.name),
                              has_magnitude ? &magnitude->second : nullptr, *got)));
    }
  }

 private:
  InputSet* Find(int number) {
    for (InputSet& set : sets_) {
      if (set.number == number) return &set;
    }
    return nullptr;
  }

  // The inputs are drawn again rather than kept. The oldest answers go if memory runs short.
  void Answer(InputSet* set) {
    if (set->right != nullptr) return;
    set->right = std::make_unique<Outputs>(
        RightOutputs(*set->workload, DrawInputs(*set->workload, set->run), false));
    int64_t kept = 0;
    for (const InputSet& each : sets_) kept += each.KeptBytes();
    for (InputSet& each : sets_) {
      if (kept <= BytesToKeep()) break;
      if (&each == set) continue;
      kept -= each.KeptBytes();
      each.right.reset();
    }
  }

  std::list<InputSet> sets_;
  uint64_t draws_ = 0;
};

}  // namespace

int ServeSession() {
  Session session;
  Say("ready");
  for (;;) {
    std::istringstream words(Hear());
    std::string command, folder;
    size_t workload = 0;
    int number = 0;
    words >> command;
    if (command == "quit") return 0;
    if (command == "draw") words >> workload;
    words >> number >> std::ws;
    std::getline(words, folder);
    command == "draw" ? session.Draw(workload, number, folder) : session.Check(number, folder);
    Say("ok");
  }
}

}  // namespace kb::test::internal
