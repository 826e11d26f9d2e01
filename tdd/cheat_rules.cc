// The table of names and strings that an honest kernel has little use for.
#include <algorithm>
#include <array>
#include <map>

#include "tdd/cheat_internal.h"
#include "tdd/spec_reader.h"

namespace kb {
namespace {

struct Rule {
  const char* id;
  Severity severity;
  std::string_view words;  // separated by blanks; "x*": all that begin so
  const char* why;
  const char* mend;
};

constexpr Severity kWarn = Severity::kWarning, kStop = Severity::kError;

// Names in code. Those of `kCommonWords` are ordinary names too, so less is needed to clear them.
constexpr std::array kWordRules = {
    Rule{"cheat-constructor", kStop,
         "constructor __constructor__ destructor __destructor__ init_priority __init_priority__ "
         "ifunc __ifunc__ section __section__",
         "runs or is placed before kb_run is called", "do all work in kb_run or a kernel"},
    Rule{"cheat-process-end", kStop,
         "exit _exit _Exit abort quick_exit at_quick_exit atexit on_exit __cxa_atexit terminate "
         "set_terminate raise kill tgkill longjmp siglongjmp",
         "ends the process, or runs when it ends: a result could be forged",
         "return a number from kb_run"},
    Rule{"cheat-loader", kWarn, "dlopen dlmopen dlsym dlvsym dl_iterate_phdr dladdr",
         "reaches code that is not in this candidate", "link what the flags allow"},
    Rule{"cheat-debugger", kWarn, "ptrace process_vm_readv process_vm_writev perf_event_open",
         "reads or changes another process", "leave it out"},
    Rule{"cheat-patch", kWarn,
         "mprotect mremap memfd_create LD_PRELOAD __builtin_return_address sigaction signal "
         "syscall",
         "can patch clocks or code", "leave it out"},
    Rule{"cheat-child", kWarn,
         "fork vfork clone clone3 execl execle execlp execv execve execvp execvpe posix_spawn "
         "posix_spawnp system popen",
         "starts another process", "leave it out"},
    Rule{"cheat-network", kWarn,
         "socket connect bind listen accept sendto recvfrom getaddrinfo gethostbyname curl_*",
         "talks to others", "leave it out"},
    Rule{"cheat-file", kWarn,
         "fopen open openat creat ifstream ofstream fstream mmap shm_open readlink getenv setenv",
         "reads or writes outside of its arguments", "use the arguments alone"},
    Rule{"cheat-thread", kWarn,
         "pthread_create thrd_create jthread async cudaLaunchHostFunc cuLaunchHostFunc "
         "cudaStreamAddCallback cuStreamAddCallback",
         "works beside the call that is timed", "do all work on the stream that is given"},
    Rule{"cheat-stream", kWarn,
         "cudaStreamCreate* cuStreamCreate* cudaStreamPerThread cudaStreamLegacy CU_STREAM_* "
         "cudaStreamBeginCapture* cuStreamBeginCapture*",
         "work on another stream is not timed", "use the stream that kb_run is given"},
    Rule{"cheat-graph", kWarn, "cudaGraph* cuGraph*", "a graph can replay old output",
         "launch the kernels themselves"},
    Rule{"cheat-event", kWarn, "cudaEvent* cuEvent*", "touches what time is measured with",
         "leave timing to kb"},
    Rule{
        "cheat-limits", kWarn,
        "cudaDeviceSetLimit cudaCtxResetPersistingL2Cache cuCtxSetLimit "
        "cuCtxResetPersistingL2Cache "
        "cudaDeviceReset cuDevicePrimaryCtx* cuCtxCreate* cuCtxDestroy* cudaSetDevice* "
        "cudaLimitPersistingL2CacheSize CU_LIMIT_PERSISTING_L2_CACHE_SIZE cudaDeviceSetCacheConfig "
        "cudaAccessPolicyWindow accessPolicyWindow CUaccessPolicyWindow cudaStreamSetAttribute "
        "cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow",
        "changes the device for all that runs after it", "leave the device as it is"},
    Rule{"cheat-policy", kWarn,
         "access_property annotated_ptr apply_access_property associate_access_property "
         "discard_memory createpolicy*",
         "keeps data in L2 from one call to the next", "use plain loads and stores"},
    Rule{"cheat-clock", kWarn,
         "clock clock64 globaltimer __globaltimer clock_gettime gettimeofday rdtsc __rdtsc "
         "steady_clock system_clock high_resolution_clock timespec_get",
         "reads a clock: could tell a timed call from a checked one", "leave it out"},
    Rule{"cheat-sleep", kWarn, "__nanosleep nanosleep usleep sleep sleep_for sleep_until",
         "waits: time is spent, or hidden", "use a barrier"},
    Rule{"cheat-prefetch", kWarn, "__prefetch* __builtin_prefetch cudaMemPrefetch* cuMemPrefetch*",
         "brings data closer before it is asked for: a warm run looks cold",
         "say so in the title, if it is the point"},
    Rule{"cheat-seed", kWarn,
         "curand* mt19937 mt19937_64 minstd_rand default_random_engine srand rand drand48 rand_r",
         "draws random numbers: could draw the inputs again", "read the inputs"},
    Rule{"cheat-fallback", kWarn, "cudaGetSymbolAddress cudaMemcpyToSymbol* cudaMemcpyFromSymbol*",
         "keeps data on the device between calls", "use a workspace of launch.yaml"},
};

// Words that mean what the rule fears only if called, or not as a member of something.
constexpr std::string_view kCommonWords =
    " exit abort raise kill terminate system signal clone socket connect bind listen accept open "
    "clock sleep rand section async ";

constexpr std::array kStringRules = {
    Rule{"cheat-constructor", kStop,
         ".init_array .preinit_array .fini_array .ctors .dtors .section "
         ".pushsection",
         "places code that runs outside of kb_run", "do all work in kb_run"},
    Rule{"cheat-hidden", kStop, ".incbin .include", "takes bytes from another file",
         "write the code out"},
    Rule{"cheat-proc", kWarn,
         "/proc /sys/ /dev/ /tmp ld_preload libcuda libnv case.yaml "
         "reference.cc test.cc",
         "names what is outside of its arguments", "leave it out"},
    Rule{"cheat-patch", kWarn, "syscall sysenter", "asks the system past the C library",
         "leave it out"},
    Rule{"cheat-clock", kWarn, "%clock %globaltimer %gridid %pm0",
         "reads a clock or a count of launches", "leave it out"},
    Rule{"cheat-policy", kWarn,
         "createpolicy evict_last l2::cache_hint applypriority discard.global discard.l2",
         "keeps data in L2 from one call to the next", "use plain loads and stores"},
    Rule{"cheat-prefetch", kWarn,
         "cp.async.bulk.prefetch prefetch.global prefetch.local prefetch.l "
         "prefetchu",
         "brings data closer before it is asked for: a warm run looks cold",
         "say so in the title, if it is the point"},
    Rule{"cheat-sleep", kWarn, "nanosleep", "waits: time is spent, or hidden", "use a barrier"},
    Rule{"cheat-address", kWarn, "ld.param", "reads its own arguments as memory",
         "use them by name"},
};

std::vector<std::string_view> Split(std::string_view words) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (end > at) parts.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

struct WordTable {
  std::map<std::string_view, const Rule*> whole;
  std::vector<std::pair<std::string_view, const Rule*>> prefixes;
};

WordTable MakeWordTable() {
  WordTable table;
  for (const Rule& rule : kWordRules) {
    for (std::string_view word : Split(rule.words)) {
      if (word.back() != '*') {
        table.whole[word] = &rule;
        continue;
      }
      word.remove_suffix(1);
      table.prefixes.emplace_back(word, &rule);
    }
  }
  return table;
}

const Rule* FindRule(const WordTable& table, std::string_view word) {
  const auto found = table.whole.find(word);
  if (found != table.whole.end()) return found->second;
  for (const auto& [prefix, rule] : table.prefixes) {
    if (word.starts_with(prefix)) return rule;
  }
  return nullptr;
}

bool IsCommon(std::string_view word) {
  return kCommonWords.find(" " + std::string(word) + " ") != std::string_view::npos;
}

// `a.exit`, `a->exit`, and in device code `int exit;`, are names of the candidate's own.
bool IsInnocent(const CheatFile& file, size_t at, std::string_view word) {
  const std::string_view code = file.text.code;
  const size_t before = at == 0 ? std::string_view::npos : code.find_last_not_of(" \t\r\n", at - 1);
  if (before != std::string_view::npos) {
    if (code[before] == '.') return true;
    if (code[before] == '>' && before > 0 && code[before - 1] == '-') return true;
  }
  const size_t next = SkipBlanks(code, at + word.size());
  const bool called = next < code.size() && code[next] == '(';
  return !called && (!file.host() || word == "section");
}

std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

void FindStrings(CheatFile& file) {
  for (const CudaString& string : file.text.strings) {
    const std::string lower = Lowered(string.text);
    for (const Rule& rule : kStringRules) {
      for (const std::string_view needle : Split(rule.words)) {
        const size_t at = lower.find(needle);
        if (at == std::string::npos) continue;
        file.AddAt(rule.severity, rule.id, string.offset,
                   "the string " + Shown(std::string_view(string.text).substr(at)) + " " + rule.why,
                   rule.mend);
      }
    }
  }
}

}  // namespace

void FindCheatWords(CheatFile& file) {
  static const WordTable table = MakeWordTable();
  const std::string_view code = file.text.code;
  for (size_t at = 0; at < code.size();) {
    const std::string_view word = WordAt(code, at);
    if (word.empty()) {
      ++at;
      continue;
    }
    const Rule* rule = word.size() <= 64 ? FindRule(table, word) : nullptr;
    const bool thread = word == "thread" && at >= 5 && code.substr(at - 5, 5) == "std::";
    if (thread) rule = FindRule(table, "jthread");
    if (rule != nullptr && !(IsCommon(word) && IsInnocent(file, at, word))) {
      file.AddAt(rule->severity, rule->id, at, Shown(word) + " " + rule->why, rule->mend);
    }
    at += word.size();
  }
  FindStrings(file);
}

}  // namespace kb
