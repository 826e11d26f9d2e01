#include "cli/mcp_json_rpc.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "cli/mcp_lines.h"
#include "kb/json.h"

namespace kb {
namespace {

using Kind = RpcMessage::Kind;

TEST(ParseRpc, ClassifiesMessages) {
  EXPECT_EQ(ParseRpc(R"({"jsonrpc":"2.0","id":1,"method":"m"})").kind, Kind::kRequest);
  EXPECT_EQ(ParseRpc(R"({"jsonrpc":"2.0","id":"a","method":"m","params":{}})").kind,
            Kind::kRequest);
  EXPECT_EQ(ParseRpc(R"({"jsonrpc":"2.0","method":"m","params":[1]})").kind, Kind::kNotification);
  EXPECT_EQ(ParseRpc(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Kind::kResponse);
  EXPECT_EQ(ParseRpc(R"({"jsonrpc":"2.0","id":1,"error":{}})").kind, Kind::kResponse);
}

TEST(ParseRpc, RefusesWhatIsNoMessage) {
  const struct {
    const char* line;
    int code;
    const char* id;  // of the answer, as JSON
  } kCases[] = {
      {"nonsense", kParseError, "null"},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"", kParseError, "null"},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}", kParseError, "null"},
      {"[]", kInvalidRequest, "null"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", kInvalidRequest, "null"},
      {"1", kInvalidRequest, "null"},
      {"null", kInvalidRequest, "null"},
      {"{}", kInvalidRequest, "null"},
      {R"({"jsonrpc":"1.0","id":1,"method":"m"})", kInvalidRequest, "1"},
      {R"({"id":7,"method":"m"})", kInvalidRequest, "7"},
      {R"({"jsonrpc":"2.0","id":"x"})", kInvalidRequest, "\"x\""},
      {R"({"jsonrpc":"2.0","id":1,"method":5})", kInvalidRequest, "1"},
      {R"({"jsonrpc":"2.0","method":null})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":null,"method":"m"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":{},"method":"m"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":true,"method":"m"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"m"})", kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})", kInvalidParams, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})", kInvalidParams, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":"x"})", kInvalidParams, "1"},
  };
  for (const auto& one : kCases) {
    const RpcMessage message = ParseRpc(one.line);
    EXPECT_EQ(message.kind, Kind::kInvalid) << one.line;
    EXPECT_EQ(message.error.code, one.code) << one.line;
    EXPECT_EQ(WriteJson(message.id), one.id) << one.line;
  }
}

TEST(ParseRpc, RefusesWhatIsTooLargeBeforeParsingIt) {
  const std::string open(kMaxMessageDepth + 1, '[');
  EXPECT_EQ(ParseRpc(open).error.code, kInvalidRequest);
  EXPECT_EQ(ParseRpc(std::string(1 << 20, '{')).error.code, kInvalidRequest);
  std::string many = "[0";
  for (int i = 0; i < kMaxMessageValues; ++i) many += ",0";
  EXPECT_NE(ParseRpc(many + "]").error.message.find("50000 values"), std::string::npos);
  const std::string long_id(kMaxIdBytes + 1, 'i');
  EXPECT_EQ(ParseRpc(R"({"jsonrpc":"2.0","method":"m","id":")" + long_id + "\"}").error.code,
            kInvalidRequest);
  EXPECT_EQ(ParseRpc(std::string(kMaxMessageBytes + 1, ' ')).error.code, kInvalidRequest);
}

TEST(ParseRpc, CountsNoBracketsWithinStrings) {
  const std::string text(kMaxMessageValues + 1000, ',');
  const std::string deep(1000, '[');
  const RpcMessage message = ParseRpc(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\")" +
                                      text + deep + R"(\\","b":2}})");
  EXPECT_EQ(message.kind, Kind::kRequest) << message.error.message;
  EXPECT_EQ(message.params["b"].AsInt(), 2);
}

TEST(WriteRpc, ErrorsAreOneBoundedLine) {
  const std::string line = WriteRpcError(Value(3), {kInternalError, std::string(100000, '\n')});
  EXPECT_LT(line.size(), kMaxErrorBytes * 3);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(BoundedLine, CutsBetweenCharacters) {
  EXPECT_EQ(BoundedLine("short", 10), "short");
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "é";
  const std::string cut = BoundedLine(accents, 50);
  EXPECT_LE(cut.size(), 50U);
  EXPECT_TRUE(cut.ends_with("é...")) << cut;
}

// A pipe that is written to from another thread.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    if (writer_.joinable()) writer_.join();
    close(ends_[0]);
  }
  void WriteAndClose(std::string bytes) {
    writer_ = std::thread([this, bytes = std::move(bytes)] {
      for (size_t at = 0; at < bytes.size();) {
        const ssize_t n = write(ends_[1], bytes.data() + at, bytes.size() - at);
        if (n <= 0) break;
        at += static_cast<size_t>(n);
      }
      close(ends_[1]);
    });
  }
  [[nodiscard]] int read_end() const { return ends_[0]; }

 private:
  int ends_[2] = {};
  std::thread writer_;
};

std::vector<std::string> AllLines(LineReader* lines) {
  std::vector<std::string> all;
  while (const auto line = lines->Next(std::chrono::milliseconds(100), [] {})) {
    all.push_back(line->too_long ? "<too long>" : line->text);
  }
  return all;
}

TEST(LineReader, SplitsAndEndsWithTheInput) {
  Pipe pipe;
  pipe.WriteAndClose("a\n\nb\r\nlast");
  LineReader lines(pipe.read_end(), 100, "mark");
  EXPECT_EQ(AllLines(&lines), (std::vector<std::string>{"a", "", "b\r", "last"}));
}

TEST(LineReader, PassesOverLongLinesAndGoesOn) {
  Pipe pipe;
  pipe.WriteAndClose(std::string(100, 'x') + "\n" + std::string(101, 'x') + "\nb\n" +
                     std::string(1 << 20, 'y') + "\nc\n" + std::string(200, 'z'));
  LineReader lines(pipe.read_end(), 100, "mark");
  EXPECT_EQ(AllLines(&lines), (std::vector<std::string>{std::string(100, 'x'), "<too long>", "b",
                                                        "<too long>", "c", "<too long>"}));
}

TEST(LineReader, SeesWhatWaitsButTakesInNoMoreThanItHasRoomFor) {
  Pipe pipe;
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "0123456789\n";
  pipe.WriteAndClose("first\n" + many + "needle\n");
  LineReader lines(pipe.read_end(), 1000, "0123");
  EXPECT_EQ(lines.Next(std::chrono::milliseconds(100), [] {})->text, "first");
  size_t seen = 0;
  EXPECT_FALSE(lines.AnyWaiting([&](std::string_view line) {
    ++seen;
    return line == "needle";
  }));
  EXPECT_LT(seen, 20000U);
  EXPECT_EQ(AllLines(&lines).size(), 100001U);
}

TEST(LineReader, LooksOnlyAtMarkedLines) {
  Pipe pipe;
  pipe.WriteAndClose("first\nplain\na mark\nplain\n");
  LineReader lines(pipe.read_end(), 1000, "mark");
  EXPECT_EQ(lines.Next(std::chrono::milliseconds(100), [] {})->text, "first");
  usleep(20000);  // for the rest, should it come in two parts
  std::string seen;
  const auto look = [&](std::string_view line) {
    seen += line;
    return true;
  };
  EXPECT_TRUE(lines.AnyWaiting(look));
  EXPECT_EQ(seen, "a mark");
  EXPECT_EQ(AllLines(&lines), (std::vector<std::string>{"plain", "a mark", "plain"}));
  EXPECT_FALSE(lines.AnyWaiting(look));
}

}  // namespace
}  // namespace kb
