#include "bench/synthetic.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace kb::bench {
namespace {

constexpr int kSections = 4;  // a file
constexpr int kFiles = 3;     // a skill
constexpr int kWords = 200;   // a section
constexpr int kTopic = 12;    // words that a skill is about
constexpr double kVocabulary = 200000;

// The most frequent words; as in English they are nearly half of a text.
constexpr const char* kCommon[] = {"the", "of",   "to",   "and",  "a",    "in",  "is",
                                   "it",  "you",  "that", "for",  "on",   "are", "with",
                                   "as",  "be",   "this", "from", "or",   "by",  "not",
                                   "but", "what", "all",  "when", "your", "can", "use"};

// SplitMix64 (Steele, Lea and Flood 2014): the same numbers with every library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // A rank from `first` to the vocabulary's end; the chance falls as 1 / rank.
  int Rank(double first = 1) {
    return static_cast<int>(first * std::pow(kVocabulary / first, Unit()));
  }

 private:
  uint64_t state_;
};

std::string Word(int rank) {
  constexpr int kCommonCount = static_cast<int>(std::size(kCommon));
  if (rank <= kCommonCount) return kCommon[rank - 1];
  constexpr const char* kOnsets[] = {"b", "d", "f", "g", "k", "l",  "m",  "n",
                                     "p", "r", "t", "v", "z", "st", "tr", "pl"};
  constexpr const char* kRests[] = {"a",  "e",  "i",  "o",  "u",  "an", "er", "il",
                                    "om", "un", "ar", "el", "in", "or", "ut", "ax"};
  std::string word;
  for (auto left = static_cast<unsigned>(rank) * 7 + 256; left > 0; left /= 256) {
    word += kOnsets[left % 16];
    word += kRests[left / 16 % 16];
  }
  return word;
}

struct Topic {
  explicit Topic(int skill) : random(static_cast<uint64_t>(skill) * 2654435761 + 1) {
    for (int i = 0; i < kTopic; ++i) words.push_back(Word(random.Rank(300)));
  }
  std::string Any() {
    return random.Unit() < 0.12 ? words[random.Next() % kTopic] : Word(random.Rank());
  }
  Random random;
  std::vector<std::string> words;
};

std::string Section(Topic& topic) {
  std::string text = "## " + topic.words[topic.random.Next() % kTopic] + " " + topic.Any() + "\n\n";
  for (int i = 1; i <= kWords; ++i) {
    text += topic.Any();
    text += i % 60 == 0 ? ".\n\n" : i % 12 == 0 ? ".\n" : " ";
  }
  if (topic.random.Next() % 4 == 0) {
    text += "\n\n```cuda\nauto " + topic.Any() + "_" + topic.Any() + " = cuda" + topic.words[0] +
            "(0);\n```";
  }
  return text + "\n\n";
}

std::string FileText(Topic& topic, const std::string& name, bool main) {
  std::string text;
  if (main) {
    text = "---\nname: " + name + "\ndescription: Use when";
    for (int i = 0; i < 20; ++i) text += " " + (i % 2 == 0 ? topic.words[i / 2] : topic.Any());
    text += ".\nlicense: Apache-2.0\n---\n";
  }
  text += "# " + topic.words[0] + " " + topic.words[1] + "\n\n";
  for (int i = 0; i < kSections; ++i) text += Section(topic);
  return text;
}

int SkillsOf(int passages) { return (passages + kFiles * kSections - 1) / (kFiles * kSections); }

}  // namespace

std::vector<std::string> WriteSynthetic(const std::string& folder, int passages) {
  std::vector<std::string> paths;
  for (int skill = 0; skill < SkillsOf(passages); ++skill) {
    Topic topic(skill);
    const std::string name = "skill-" + std::to_string(skill);
    std::filesystem::create_directories(folder + "/" + name + "/references");
    for (int file = 0; file < kFiles; ++file) {
      const std::string below =
          file == 0 ? "/SKILL.md" : "/references/part-" + std::to_string(file) + ".md";
      paths.push_back(folder + "/" + name + below);
      std::ofstream(paths.back()) << FileText(topic, name, file == 0);
    }
  }
  return paths;
}

std::vector<std::string> SyntheticQuestions(int passages, int count) {
  std::vector<std::string> questions;
  Random random(42);
  for (int i = 0; i < count; ++i) {
    const auto skills = static_cast<uint64_t>(SkillsOf(passages));
    Topic topic(static_cast<int>(random.Next() % skills));
    std::string question;
    for (int word = 0; word < 10; ++word) {
      question += (word % 2 == 0 ? topic.words[random.Next() % kTopic] : Word(random.Rank())) + " ";
    }
    questions.push_back(question);
  }
  return questions;
}

}  // namespace kb::bench
