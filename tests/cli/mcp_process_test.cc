// kb mcp as a program: what a hostile client may send it, and how it ends.
#include <random>

#include "tests/cli/mcp_child.h"
#include "tests/cli/mcp_fixture.h"

namespace kb {
namespace {

using test::McpChild;

constexpr int kNoAnswer = 0;
constexpr int kAnyResult = 1;

class McpProcessTest : public McpTest {
 protected:
  void SetUp() override {
    McpTest::SetUp();
    signal(SIGPIPE, SIG_IGN);  // a server that ends early shows as a failed write
  }
  const bool is_sanitized_ = std::getenv("KB_SANITIZED") != nullptr;  // it never gives memory back
};

const char* const kModernMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

std::string Request(const std::string& id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" + params +
         (params.empty() ? "" : ",") + kModernMeta + "}}";
}

struct Hostile {
  std::string line;
  int code;  // of the error; kNoAnswer or kAnyResult
};

std::string Repeat(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Hand-made: what each rule of the protocol forbids.
std::vector<Hostile> Forbidden() {
  return {
      {"{", -32700},
      {"}", -32700},
      {"\"", -32700},
      {std::string("\0\0\0", 3), -32700},
      {"\xFF\xFE{}", -32700},
      {R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})", -32700},
      {R"({"jsonrpc":"2.0","id":1e999,"method":"ping"})", -32700},
      {R"({"jsonrpc":"2.0","id":01,"method":"ping"})", -32700},
      {"NaN", -32700},
      {"'single'", -32700},
      {"// comment", -32700},
      {"GET / HTTP/1.1", -32700},
      {"Content-Length: 5", -32700},
      {"[]", -32600},
      {"[" + Request("1", "tools/list", "") + "]", -32600},
      {"true", -32600},
      {"{}", -32600},
      {R"({"jsonrpc":2.0,"id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.25,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":{"a":1},"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":false,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":")" + std::string(5000, 'i') + R"(","method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":["ping"]})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":7})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":[]}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":)"
       R"({"io.modelcontextprotocol/protocolVersion":"1999-01-01",)"
       R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
       -32022},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":{}}})", -32602},
      {Request("1", "no/such/method", ""), -32601},
      {Request("1", std::string(100000, 'm'), ""), -32601},
      {Request("1", "tools/call", ""), -32602},
      {Request("1", "tools/call", R"("name":"rm","arguments":{})"), -32602},
      {Request("1", "tools/call", R"("name":"kb_search","arguments":[1,2,3])"), kAnyResult},
      {Request("1", "tools/call", R"("name":"kb_search","arguments":{"query":{"a":[]}})"),
       kAnyResult},
      {Request("1", "resources/read", R"("uri":"file:///etc/passwd")"), -32602},
      {Request("1", "resources/read", R"("uri":"kb://../../etc/passwd")"), -32602},
      {Request("1", "resources/read", R"("uri":"skill://x/../../etc/passwd")"), -32602},
      {Request("1", "resources/list", R"("cursor":"AAAA")"), -32602},
      {Request("1", "prompts/get", R"("name":"write-kernel","arguments":{"task":5})"), -32602},
      {R"({"jsonrpc":"2.0","id":1,"result":{}})", kNoAnswer},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})", kNoAnswer},
      {R"({"jsonrpc":"2.0","method":"notifications/cancelled"})", kNoAnswer},
      {R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})",
       kNoAnswer},
      {R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"kb_status"}})", kNoAnswer},
      {"", kNoAnswer},
      {"   \t \r", kNoAnswer},
      {std::string(100000, '['), -32600},
      {Repeat("{\"a\":", 100000), -32600},
      {Repeat("[[],", 100000), -32600},
      {"[" + Repeat("0,", 200000) + "0]", -32600},
      {"\"" + std::string(4 << 20, 'x') + "\"", -32600},
      {std::string(5 << 20, ' '), -32600},
  };
}

// A valid request, damaged at random: an answer of any kind or none, and never a crash.
std::string Damaged(std::mt19937* random) {
  const std::vector<std::string> seeds = {
      Request("7", "tools/call", R"("name":"kb_search","arguments":{"query":"bank","k":3})"),
      Request("\"x\"", "resources/read", R"("uri":"kb://warp-shuffle")"),
      Request("-1", "prompts/get", R"("name":"debug-kernel","arguments":{"symptom":"nan"})"),
      Request("0", "skills/get", R"("uri":"skill://warp-shuffle/SKILL.md")"),
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})"};
  std::string line = seeds[(*random)() % seeds.size()];
  const int edits = static_cast<int>((*random)() % 4) + 1;
  for (int i = 0; i < edits && !line.empty(); ++i) {
    const size_t at = (*random)() % line.size();
    switch ((*random)() % 5) {
      case 0:
        line.erase(at, (*random)() % 20 + 1);
        break;
      case 1:
        line[at] = static_cast<char>((*random)() % 256);
        break;
      case 2:
        line.insert(at, line.substr((*random)() % line.size(), 30));
        break;
      case 3:
        line.resize(at);
        break;
      default:
        line.insert(at, 1, "{}[]\",:0n\\"[(*random)() % 10]);
    }
  }
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  return line;
}

TEST_F(McpProcessTest, AThousandHostileMessagesGetTheRightErrorsAndNoMemory) {
  IndexAll();
  McpChild server;
  ASSERT_TRUE(server.Answers(Request("1", "skills/list", "")).size() == 1);
  const double before = server.Memory("VmRSS");
  int sent = 0;
  for (int round = 0; round < 5; ++round) {
    for (const Hostile& hostile : Forbidden()) {
      const auto answers = server.Answers(hostile.line);
      ++sent;
      ASSERT_EQ(answers.size(), hostile.code == kNoAnswer ? 0U : 1U) << hostile.line.substr(0, 200);
      if (hostile.code == kAnyResult) {
        EXPECT_TRUE(answers[0]["result"]["isError"].AsBool()) << hostile.line;
      } else if (hostile.code != kNoAnswer) {
        EXPECT_EQ(answers[0]["error"]["code"].AsInt(), hostile.code) << hostile.line.substr(0, 200);
      }
    }
  }
  std::mt19937 random(20261130);
  for (; sent < 1000; ++sent) {
    const std::string line = Damaged(&random);
    ASSERT_LE(server.Answers(line).size(), 1U) << line;
  }
  // VmHWM counts a line of 4 MiB in the reader, its parse and the answer.
  EXPECT_LT(server.Memory("VmHWM") - before, is_sanitized_ ? 1e9 : 64) << "MiB";
  EXPECT_EQ(server.Answers(Request("1", "tools/list", "")).size(), 1U);
  server.CloseInput();
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(McpProcessTest, ALineOfAHundredMegabytesIsPassedOver) {
  McpChild server;
  ASSERT_TRUE(server.Answers("").empty());
  const double before = server.Memory("VmHWM");
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(server.Write(part));
  const auto answers = server.Answers("");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]["error"]["code"].AsInt(), -32600);
  EXPECT_TRUE(answers[0]["id"].IsNull());
  EXPECT_LT(server.Memory("VmHWM") - before, is_sanitized_ ? 1e9 : 16) << "MiB";
}

TEST_F(McpProcessTest, EndsWhenStdinCloses) {
  for (const char* last : {"", "{\"half\":", "\n\n", "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n"}) {
    McpChild server;
    ASSERT_TRUE(server.Answers("").empty());
    ASSERT_TRUE(server.Write(last));
    server.CloseInput();
    EXPECT_EQ(server.Wait(), 0) << last;
  }
}

TEST_F(McpProcessTest, AnswersWhatWasSentBeforeStdinClosed) {
  McpChild server;
  ASSERT_TRUE(server.Write(Request("1", "tools/list", "") + "\n" + Request("2", "tools/list", "")));
  server.CloseInput();
  EXPECT_EQ(ParseJson(server.ReadLine().value_or(""))->operator[]("id").AsInt(), 1);
  EXPECT_EQ(ParseJson(server.ReadLine().value_or(""))->operator[]("id").AsInt(), 2);
  EXPECT_EQ(server.ReadLine(), std::nullopt);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(McpProcessTest, EndsWhenNobodyReadsItsAnswers) {
  McpChild server;
  ASSERT_TRUE(server.Answers("").empty());
  server.CloseOutput();
  server.Write(Request("1", "tools/list", "") + "\n");
  EXPECT_NE(server.Wait(), -1);
}

TEST_F(McpProcessTest, ARequestThatIsCancelledWhileItWaitsIsNotAnswered) {
  IndexAll();
  McpChild server;
  ASSERT_TRUE(server.Answers("").empty());
  const std::string call =
      R"("name":"kb_search","arguments":{"query":"shared memory bank conflicts"})";
  ASSERT_TRUE(server.Write(
      Request("1", "tools/call", call) + "\n" + Request("2", "tools/call", call) + "\n" +
      Request("\"2\"", "tools/call", call) + "\n" +
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})" + "\n" +
      Request("3", "tools/call", call) + "\n"));
  std::string ids;
  for (int i = 0; i < 3; ++i) {
    ids += WriteJson(ParseJson(server.ReadLine().value_or("null"))->operator[]("id")) + " ";
  }
  EXPECT_EQ(ids, "1 \"2\" 3 ");
  EXPECT_TRUE(server.Answers("").empty());
}

TEST_F(McpProcessTest, ServesWhatAnotherProcessIndexes) {
  McpChild server;
  const std::string list = Request("1", "resources/list", "");
  EXPECT_TRUE(server.Answers(list).at(0)["result"]["resources"].AsList().empty());
  IndexAll();
  EXPECT_EQ(server.Answers(list).at(0)["result"]["resources"].AsList().size(), 4U);
  for (int i = 0; i < 5; ++i) {
    WriteSkill("more-" + std::to_string(i), "More", "Text.\n");
    ASSERT_EQ(Run({"index"}).exit_code, 0);
    EXPECT_EQ(server.Answers(list).at(0)["result"]["resources"].AsList().size(), 5U + i);
  }
  std::filesystem::remove_all(".kb");
  EXPECT_TRUE(server.Answers(list).at(0)["result"]["resources"].AsList().empty());
}

}  // namespace
}  // namespace kb
