#include "cli/scaffold.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <ostream>

#include "cli/export_front.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {

std::string Filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [mark, value] : values) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), value);
      at += value.size();
    }
  }
  return text;
}

std::string TitleOf(std::string name) {
  for (char& c : name) c = c == '-' ? ' ' : c;
  if (name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

std::string CheckedName(const Args& args, const char* argument, const char* command) {
  std::string name = args.Get(argument);
  const std::string conformant = ConformantName(name);
  if (conformant == name) return name;
  throw Error("a name is 1-64 of a-z, 0-9 and single hyphens, not '" + name + "'" +
              (conformant.empty() ? "; think of another"
                                  : std::string("; try: ") + command + " " + conformant));
}

void MakeFolders(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error("cannot make " + folder + ": " + error.message() +
                "; check the permissions, or name another folder with --dir");
  }
}

void CheckMissing(const std::string& path, const char* mend) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0 && errno == ENOENT) return;
  throw Error(path + " is there already; " + mend);
}

void TellMade(const std::string& path, const char* next, const Args& args, Streams& streams) {
  if (args.Has("--json")) {
    streams.out << WriteJson(Value(Value::Map{{"path", path}}), 2) << '\n';
  } else {
    streams.out << Printable(path) << '\n';
  }
  if (!streams.quiet) streams.talk << next << '\n';
}

}  // namespace kb
