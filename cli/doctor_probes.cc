#include "cli/doctor_probes.h"

#include <dlfcn.h>
#include <langinfo.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>

#include "cli/index_status.h"
#include "indexer/retriever.h"
#include "kb/error.h"
#include "tdd/toolchain.h"

// What the linked libraries say of themselves; their headers belong to their adapters.
extern "C" {
const char* sqlite3_libversion();
const char* cmark_version_string();
const char* openblas_get_config();
}

namespace kb {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Age(int64_t seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172800) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86400) + " days";
}

}  // namespace

std::string ProbeCurl() {
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto version = reinterpret_cast<const char* (*)()>(dlsym(library, "curl_version"));
    if (version == nullptr) return std::string("!") + name + " has no curl_version";
    const std::string text = version();
    return "+" + text.substr(0, text.find(' '));
  }
  return "-libcurl.so.4 is not installed";
}

std::string ProbeNvrtc(const std::vector<std::string>& folders) {
  std::string why;
  const auto toolchain = OpenNvrtc(&why, folders);
  if (toolchain == nullptr) return "-" + why;
  CompileRequest request;
  request.source = "extern \"C\" __global__ void f(float* x) { *x = 1; }";
  request.name = "doctor.cu";
  request.arch = "sm_90";
  const CompileResult result = toolchain->Compile(request);
  if (result.ok) return "+" + toolchain->version();
  return "!" + toolchain->version() +
         " does not compile for sm_90: " + result.log.substr(0, result.log.find('\n'));
}

std::string ProbeIndex(const std::string& kb_dir) {
  std::error_code error;
  if (!std::filesystem::exists(kb_dir + "/catalog.sqlite", error)) {
    return "-nothing is indexed yet in " + kb_dir;
  }
  try {
    const IndexStatus status = ReadStatus(kb_dir);
    if (status.generation == 0) return "-nothing is indexed yet in " + kb_dir;
    Query query;
    query.text = "shared memory";
    static_cast<void>(Retriever(kb_dir).Search(query));
    std::string text = "+" + kb_dir + ": " + std::to_string(status.chunks) +
                       " passages, generation " + std::to_string(status.generation) + ", " +
                       Age(AgeSeconds(status)) + " old";
    if (!status.freshness.IsFresh()) text += ", behind the files";
    return text;
  } catch (const Error& failure) {
    return std::string("!") + failure.what();
  }
}

std::string ProbeLibraries() {
  const std::string blas = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  return std::string("+SQLite ") + sqlite3_libversion() + ", cmark " + cmark_version_string() +
         ", " + blas.substr(0, blas.find(' ', blas.find(' ') + 1)) + ", " + KB_LIBRARIES;
}

std::string ProbeTerminal() {
  std::setlocale(LC_ALL, "");
  const std::string charset = nl_langinfo(CODESET);
  const std::string term = Environment("TERM");
  std::string text = charset + ", " + (term.empty() ? "no terminal type" : term);
  if (!Environment("NO_COLOR").empty()) text += ", NO_COLOR is set";
  if (charset == "UTF-8") return "+" + text;
  return "-" + text + ": not UTF-8, so text beyond ASCII may look wrong";
}

}  // namespace kb
