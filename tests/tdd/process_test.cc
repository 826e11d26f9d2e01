#include "tdd/process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "kb/error.h"
#include "tdd/sandbox.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// ---- what this same program does when it is the child: argv[1] = "child", argv[2] = what ----

int Connect(const std::string& port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ? 0 : 7;
}

// A grandchild in a session of its own that would live for ever and write its mark.
int Orphan(const std::string& mark) {
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    while (true) {
      std::ofstream(mark, std::ios::app) << "x";
      usleep(5000);
    }
  }
  while (!fs::exists(mark)) usleep(1000);
  return 0;
}

int Hog() {
  const size_t bytes = size_t{8} << 30;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? 9 : 0;
}

int Chatter() {
  const std::string block(1 << 20, 'y');
  for (int i = 0; i < 10240; ++i) std::cout << block;  // 10 GiB
  return 0;
}

[[noreturn]] void Bomb() {
  while (true) static_cast<void>(!fork());
}

int BigFile() {
  std::ofstream file("big");
  const std::string block(1 << 16, 'z');
  while (file << block) continue;
  return 0;
}

// A grandchild that computes for 0.1 s of its own time, however busy the machine is.
int Burn() {
  if (fork() == 0) {
    while (clock() < CLOCKS_PER_SEC / 10) continue;
    _exit(0);
  }
  return wait(nullptr) > 0 ? 0 : 1;
}

int Facts() {
  std::cout << "cwd " << fs::current_path().string() << "\nfds";
  std::vector<std::string> fds;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] != '.' && std::stoi(name) != dirfd(folder)) fds.push_back(name);
  }
  closedir(folder);
  std::sort(fds.begin(), fds.end());
  for (const std::string& fd : fds) std::cout << " " << fd;
  std::cout << "\nenv";
  for (char** each = environ; *each != nullptr; ++each) std::cout << " " << *each;
  std::cout << "\n";
  return 0;
}

int Echo() {
  Channel channel(3);
  std::string line;
  while (channel.Receive(&line, 60)) {
    if (!channel.Send("echo " + line)) return 1;
  }
  return 4;
}

// Whether memory of process `pid` can be opened.
int Peek(const std::string& pid) { return access(("/proc/" + pid + "/mem").c_str(), F_OK) == 0; }

int RunChild(const std::string& what, const std::string& word) {
  const std::map<std::string, std::function<int()>> children = {
      {"exit", [&] { return std::stoi(word); }},
      {"abort",
       [] {
         abort();
         return 0;
       }},
      {"loop",
       [] {
         while (Clock::now().time_since_epoch().count() > 0) continue;
         return 0;
       }},
      {"segv",
       [] {
         signal(SIGSEGV, SIG_DFL);
         raise(SIGSEGV);
         return 0;
       }},
      {"stubborn",
       [] {
         signal(SIGTERM, SIG_IGN);
         while (true) pause();
         return 0;
       }},
      {"orphan", [&] { return Orphan(word); }},
      {"bomb",
       [] {
         Bomb();
         return 0;
       }},
      {"chatter", Chatter},
      {"hog", Hog},
      {"bigfile", BigFile},
      {"burn", Burn},
      {"write", [&] { return std::ofstream(word) << "x" ? 0 : 8; }},
      {"connect", [&] { return Connect(word); }},
      {"facts", Facts},
      {"echo", Echo},
      {"peek", [&] { return Peek(word); }},
      {"deaf",
       [] {
         close(0);
         close(1);
         close(2);
         usleep(50000);
         return 5;
       }},
      {"say",
       [] {
         std::cout << "to out" << std::flush;
         std::cerr << "to talk";
         return 0;
       }},
  };
  return children.at(what)();
}

// ---- the tests ----

ProcessOptions ChildOptions(const std::string& what, const std::string& word = "") {
  ProcessOptions options;
  options.argv = {fs::read_symlink("/proc/self/exe").string(), "child", what, word};
  options.timeout_s = 20;
  return options;
}

ProcessResult RunChildProcess(const std::string& what, const std::string& word = "") {
  return RunProcess(ChildOptions(what, word));
}

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "kb_process_" + std::to_string(getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_;
};

// Both with namespaces and, as where they cannot be had, without.
class BothWays : public ProcessTest, public testing::WithParamInterface<bool> {
 protected:
  ProcessOptions Options(const std::string& what, const std::string& word = "") {
    ProcessOptions options = ChildOptions(what, word);
    options.sandbox = GetParam();
    return options;
  }
};

TEST_P(BothWays, TheExitCodeAndTheSignalAreTold) {
  struct {
    const char* what;
    const char* word;
    int exit_code;
  } const cases[] = {{"exit", "0", 0}, {"exit", "3", 3}, {"exit", "255", 255}, {"segv", "", 139}};
  for (const auto& c : cases) {
    const ProcessResult result = RunProcess(Options(c.what, c.word));
    EXPECT_TRUE(result.started) << result.why;
    EXPECT_EQ(result.exit_code, c.exit_code) << c.what << result.talk;
    EXPECT_FALSE(result.timed_out);
  }
}

TEST_P(BothWays, AnEndlessLoopEndsAtTheDeadline) {
  for (const char* what : {"loop", "stubborn"}) {
    ProcessOptions options = Options(what);
    options.timeout_s = 0.3;
    const ProcessResult result = RunProcess(options);
    EXPECT_TRUE(result.timed_out) << what;
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    EXPECT_GE(result.wall_s, 0.3);
    EXPECT_LT(result.wall_s, 3);
  }
}

TEST_P(BothWays, GrandchildrenDoNotOutliveIt) {
  const std::string mark = folder_ + "/mark";
  ProcessOptions options = Options("orphan", mark);
  options.writable = {folder_};
  const ProcessResult result = RunProcess(options);
  ASSERT_EQ(result.exit_code, 0) << result.talk << result.why;
  const auto size = fs::file_size(mark);
  usleep(60000);
  EXPECT_EQ(fs::file_size(mark), size);
}

TEST_P(BothWays, OutputIsKeptApartAndBounded) {
  const ProcessResult said = RunProcess(Options("say"));
  EXPECT_EQ(said.out, "to out");
  EXPECT_EQ(said.talk, "to talk");
  ProcessOptions options = Options("chatter");
  options.output_bytes = 3 << 20;
  const ProcessResult result = RunProcess(options);
  EXPECT_TRUE(result.too_much_output);
  EXPECT_EQ(result.out.size(), size_t{3} << 20);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_LT(result.wall_s, 5);
}

TEST_P(BothWays, MemoryAndFilesAreBounded) {
  ProcessOptions options = Options("hog");
  EXPECT_EQ(RunProcess(options).exit_code, 0);
  options.memory_bytes = int64_t{4} << 30;
  const int exit_code = RunProcess(options).exit_code;
  if (std::getenv("KB_SANITIZED") == nullptr) {
    EXPECT_EQ(exit_code, 9);
  } else {
    EXPECT_NE(exit_code, 0);  // a sanitizer needs more to start at all
  }
  options = Options("bigfile");
  options.file_bytes = 1 << 20;
  EXPECT_EQ(RunProcess(options).exit_code, 128 + SIGXFSZ);
}

TEST_P(BothWays, ClosedDescriptorsAreNoEnd) {
  const ProcessResult result = RunProcess(Options("deaf"));
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_GE(result.wall_s, 0.05);
  EXPECT_LT(result.cpu_s, 5);
}

TEST_P(BothWays, CpuTimeOfDescendantsCounts) {
  const ProcessResult result = RunProcess(Options("burn"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_GE(result.cpu_s, 0.09);
}

TEST_P(BothWays, ItSeesOnlyWhatItIsGiven) {
  const int inherited = open("/dev/null", O_RDONLY);  // not close-on-exec
  ProcessOptions options = Options("facts");
  options.environment = {"ONE=1"};
  ChannelPair channel = MakeChannel();
  options.channel = channel.theirs;
  const ProcessResult result = RunProcess(options);
  close(channel.theirs);
  close(inherited);
  EXPECT_THAT(result.out, HasSubstr("fds 0 1 2 3\n"));
  EXPECT_THAT(result.out, HasSubstr("env ONE=1\n"));
  const std::string cwd = result.out.substr(4, result.out.find('\n') - 4);
  EXPECT_THAT(cwd, HasSubstr("kb-child-"));
  EXPECT_FALSE(fs::exists(cwd));
}

TEST_P(BothWays, AChildIsTalkedToWhileItRuns) {
  ChannelPair pair = MakeChannel();
  ProcessOptions options = Options("echo");
  options.channel = pair.theirs;
  Process process(options);
  close(pair.theirs);
  std::string line;
  for (const std::string& text : {std::string("hello"), std::string(3 << 20, 'q'), std::string()}) {
    ASSERT_TRUE(pair.ours.Send(text));
    ASSERT_TRUE(pair.ours.Receive(&line, 10));
    EXPECT_EQ(line, "echo " + text);
  }
  EXPECT_TRUE(process.running());
  { const Channel gone(std::move(pair.ours)); }
  EXPECT_EQ(process.Wait().exit_code, 4);
  EXPECT_FALSE(process.running());
}

TEST_P(BothWays, KillEndsItAndTheObjectsEndDoesToo) {
  ProcessOptions options = Options("stubborn");
  const auto start = Clock::now();
  {
    Process process(options);
    process.Kill();
    EXPECT_EQ(process.Wait().exit_code, 128 + SIGKILL);
    EXPECT_FALSE(process.Wait().timed_out);
  }
  { const Process process(options); }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}

INSTANTIATE_TEST_SUITE_P(Sandbox, BothWays, testing::Bool(),
                         [](const auto& test) { return test.param ? "Shut" : "Bare"; });

TEST_F(ProcessTest, WhatCannotStartSaysWhy) {
  struct {
    std::vector<std::string> argv;
    std::string folder;
    const char* why;
  } const cases[] = {
      {{}, "", "no program is named"},
      {{"kb-no-such-program"}, "", "cannot start kb-no-such-program: no such program in PATH"},
      {{folder_ + "/none"}, "", "exec: No such file or directory"},
      {{folder_}, "", "exec: Permission denied"},
      {{"true"}, folder_ + "/none", "it is no folder"},
  };
  for (const auto& c : cases) {
    ProcessOptions options;
    options.argv = c.argv;
    options.folder = c.folder;
    const ProcessResult result = RunProcess(options);
    EXPECT_FALSE(result.started);
    EXPECT_THAT(result.why, HasSubstr(c.why));
    EXPECT_THROW(Process process(options), Error);
  }
}

TEST_F(ProcessTest, AProgramIsFoundInThePath) {
  ProcessOptions options;
  options.argv = {"sh", "-c", "echo $0 $1", "a"};
  EXPECT_EQ(RunProcess(options).out, "a\n");
}

class SandboxTest : public ProcessTest {
 protected:
  void SetUp() override {
    ProcessTest::SetUp();
    if (!BestSandbox().mounts) GTEST_SKIP() << "no namespaces here: " << BestSandbox().name;
  }
};

TEST_F(SandboxTest, AForkBombEndsWithinItsLimit) {
  ProcessOptions options = ChildOptions("bomb");
  options.max_processes = 50;
  const ProcessResult result = RunProcess(options);
  EXPECT_TRUE(result.too_many_processes);
  EXPECT_LT(result.wall_s, 10);
  EXPECT_NE(result.exit_code, 0);
}

TEST_F(SandboxTest, WritesOutsideItsFoldersFail) {
  const std::string inside = folder_ + "/inside", outside = folder_ + "/outside";
  fs::create_directories(inside);
  fs::create_directories(outside);
  struct {
    std::string file;
    int exit_code;
  } const cases[] = {{inside + "/a", 0},    {"here", 0},          {outside + "/a", 8},
                     {"../outside-too", 8}, {"/dev/shm/kb-a", 8}, {"/proc/sys/kernel/hostname", 8},
                     {"/proc/self/comm", 0}};
  for (const auto& c : cases) {
    ProcessOptions options = ChildOptions("write", c.file);
    options.writable = {inside};
    EXPECT_EQ(RunProcess(options).exit_code, c.exit_code) << c.file;
  }
  EXPECT_TRUE(fs::exists(inside + "/a"));
  EXPECT_TRUE(fs::is_empty(outside));
}

TEST_F(SandboxTest, OtherProcessesAreNotSeen) {
  EXPECT_EQ(RunChildProcess("peek", std::to_string(getpid())).exit_code, 0);
}

TEST_F(SandboxTest, TheNetworkIsOutOfReach) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  ProcessOptions options = ChildOptions("connect", std::to_string(ntohs(address.sin_port)));
  EXPECT_EQ(RunProcess(options).exit_code, 7);
  options.network = true;
  EXPECT_EQ(RunProcess(options).exit_code, 0);
  close(listener);
}

TEST_F(ProcessTest, ManyAtOnceDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i, &right] {
      for (int k = 0; k < 5; ++k) {
        const std::vector<char> noise(1 << 16);  // the allocator is busy while others fork
        if (RunChildProcess("exit", std::to_string(i + k)).exit_code == i + k) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST(Channel, RefusesWhatIsNoLine) {
  ChannelPair pair = MakeChannel();
  Channel theirs(pair.theirs);
  std::string line;
  EXPECT_FALSE(pair.ours.Send("two\nlines"));
  EXPECT_FALSE(pair.ours.Receive(&line, 0.01));  // the deadline
  EXPECT_TRUE(theirs.Send("late"));
  EXPECT_TRUE(pair.ours.Receive(&line, 1));
  EXPECT_EQ(line, "late");
}

TEST(Channel, ALineOverTheBoundEndsIt) {
  ChannelPair pair = MakeChannel();
  std::thread writer([fd = pair.theirs] {
    const std::string block(1 << 20, 'x');
    while (send(fd, block.data(), block.size(), MSG_NOSIGNAL) > 0) continue;
    close(fd);
  });
  std::string line;
  {
    Channel ours(std::move(pair.ours));
    EXPECT_FALSE(ours.Receive(&line, 20));
  }
  writer.join();
}

TEST(Channel, TheOtherSidesEndIsSeen) {
  ChannelPair pair = MakeChannel();
  { Channel theirs(pair.theirs); }
  std::string line;
  EXPECT_FALSE(pair.ours.Receive(&line, 5));
  EXPECT_FALSE(pair.ours.Send(std::string(1 << 20, 'x')));
}

}  // namespace

// Outside the nameless namespace: main below calls it.
int RunTestChild(const std::string& what, const std::string& word) { return RunChild(what, word); }

}  // namespace kb

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "child") return kb::RunTestChild(argv[2], argv[3]);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
