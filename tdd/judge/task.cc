#include "tdd/judge/task.h"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "tdd/judge/wire.h"

namespace kb::test::internal {
namespace {

Task& MutableTask() {
  static Task task;
  return task;
}

// The words of one line. A missing or wrong word ends the judge.
class Words {
 public:
  explicit Words(const std::string& line) : line_(line), stream_(line) {}

  std::string Word() {
    std::string word;
    if (!(stream_ >> word)) Wrong();
    return word;
  }
  std::string WordOrNone() {
    std::string word;
    stream_ >> word;
    return word;
  }
  template <class T>
  T Integer() {
    std::string word = Word();
    T value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) Wrong();
    return value;
  }
  double Real() {
    std::string word = Word();
    char* end = nullptr;
    double value = std::strtod(word.c_str(), &end);
    if (*end != '\0') Wrong();
    return value;
  }
  const Format* OfFormat() {
    const Format* format = FindFormat(Word());
    if (format == nullptr) Wrong();
    return format;
  }
  std::string Rest() {
    std::string rest;
    std::getline(stream_ >> std::ws, rest);
    return rest;
  }
  bool More() { return !(stream_ >> std::ws).eof(); }
  [[noreturn]] void Wrong() const {
    Fault("INFRA_ERROR", "the judge does not understand: " + line_);
  }

 private:
  std::string line_;
  std::istringstream stream_;
};

Filling ReadFilling(Words* words) {
  std::string kind = words->Word();
  Filling filling;
  if (kind != "normal" && kind != "uniform" && kind != "integers") words->Wrong();
  if (kind == "uniform") filling.kind = Filling::Kind::kUniform;
  if (kind == "integers") filling.kind = Filling::Kind::kIntegers;
  filling.a = words->Real();
  filling.b = words->Real();
  return filling;
}

void ReadWorkloadLine(const std::string& kind, Words* words, Task* task) {
  if (task->workloads.empty()) words->Wrong();
  WorkloadTask& last = task->workloads.back();
  std::string name = words->Word();
  if (kind == "axis") {
    last.axes[name] = words->Integer<int64_t>();
  } else if (kind == "shape") {
    std::vector<int64_t>& shape = last.shapes[name];
    while (words->More()) shape.push_back(words->Integer<int64_t>());
  } else if (kind == "allowed") {
    Allowed& allowed = last.allowed[name];
    allowed.abs = words->Real();
    allowed.rel = words->Real();
    allowed.slack = words->Real();
  } else {
    words->Wrong();
  }
}

void ReadLine(const std::string& line, Task* task) {
  Words words(line);
  std::string kind = words.Word();
  if (kind == "session") {
    task->session = true;
  } else if (kind == "seed") {
    task->seed = words.Integer<uint64_t>();
  } else if (kind == "mutant") {
    task->mutant = words.Word();
    task->mutated_output = words.WordOrNone();
  } else if (kind == "first-failure") {
    task->first_failure = true;
  } else if (kind == "trials") {
    task->trials = words.Integer<int>();
  } else if (kind == "scratch") {
    task->scratch = words.Rest();
  } else if (kind == "input") {
    TensorTask input{words.Word(), words.OfFormat(), {}};
    input.filling = ReadFilling(&words);
    task->inputs.push_back(std::move(input));
  } else if (kind == "scalar") {
    std::string name = words.Word();
    const Format* format = words.OfFormat();
    task->scalars[name] = Round(*format, words.Real());
  } else if (kind == "output") {
    TensorTask output{words.Word(), words.OfFormat(), {}};
    task->outputs.push_back(std::move(output));
  } else if (kind == "workload") {
    int index = static_cast<int>(task->workloads.size());
    task->workloads.push_back({Workload(index, words.Rest(), {}), {}, {}, {}});
  } else {
    ReadWorkloadLine(kind, &words, task);
  }
}

}  // namespace

void ReadTask() {
  Task& task = MutableTask();
  for (std::string line = Hear(); line != "end"; line = Hear()) ReadLine(line, &task);
  for (WorkloadTask& workload : task.workloads) {
    workload.workload =
        Workload(workload.workload.index(), workload.workload.label(), workload.axes);
    task.public_workloads.push_back(workload.workload);
  }
  half_accumulate = false;
}

const Task& TheTask() { return MutableTask(); }

int64_t CountOf(const WorkloadTask& workload, const std::string& tensor) {
  int64_t count = 1;
  for (int64_t dimension : workload.shapes.at(tensor)) count *= dimension;
  return count;
}

bool half_accumulate = false;

}  // namespace kb::test::internal

namespace kb::test {
namespace {

template <class Map>
auto& Find(Map& map, std::string_view name, const char* what) {
  auto found = map.find(name);
  if (found == map.end()) {
    throw std::invalid_argument(std::string("no ") + what + " '" + std::string(name) + "'");
  }
  return found->second;
}

}  // namespace

int64_t Workload::axis(std::string_view name) const { return Find(axes_, name, "axis"); }

Inputs::Inputs(ByName<int64_t> axes, ByName<double> scalars, ByName<std::vector<double>> tensors)
    : axes_(std::move(axes)), scalars_(std::move(scalars)), tensors_(std::move(tensors)) {}
int64_t Inputs::axis(std::string_view name) const { return Find(axes_, name, "axis"); }
double Inputs::scalar(std::string_view name) const { return Find(scalars_, name, "scalar input"); }
const std::vector<double>& Inputs::operator[](std::string_view name) const {
  return Find(tensors_, name, "input");
}

Outputs::Outputs(ByName<std::vector<double>> tensors) : tensors_(std::move(tensors)) {}
std::vector<double>& Outputs::operator[](std::string_view name) {
  return Find(tensors_, name, "output");
}
std::vector<double>& Outputs::magnitude(std::string_view name) {
  std::vector<double>& sums = magnitudes_[std::string(name)];
  if (sums.empty()) sums.resize((*this)[name].size());
  return sums;
}

const std::vector<Workload>& Workloads() { return internal::TheTask().public_workloads; }
int Trials() { return internal::TheTask().trials; }

}  // namespace kb::test
