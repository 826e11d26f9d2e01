#include "cli/mcp_server.h"

#include <algorithm>

#include "tests/cli/mcp_fixture.h"

namespace kb {
namespace {

using McpServerTest = McpTest;

TEST_F(McpServerTest, DiscoverSaysWhatTheServerCan) {
  const Value result = Modern("server/discover")["result"];
  EXPECT_EQ(result["resultType"].AsString(), "complete");
  EXPECT_EQ(WriteJson(result["supportedVersions"]), R"(["2026-07-28"])");
  EXPECT_TRUE(result["ttlMs"].IsInt());
  EXPECT_EQ(result["cacheScope"].AsString(), "private");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].AsString(), "kb");
  const Value& extensions = result["capabilities"]["extensions"];
  EXPECT_TRUE(extensions["io.modelcontextprotocol/skills"]["directoryRead"].AsBool());
  EXPECT_EQ(result["instructions"].AsString(), McpInstructions());
}

TEST_F(McpServerTest, InstructionsFitAndNameTheFirstCall) {
  EXPECT_LE(McpInstructions().size(), 2048U);
  EXPECT_NE(McpInstructions().find("Call kb_context before writing"), std::string::npos);
}

TEST_F(McpServerTest, InitializeAnswersKnownVersionsAndElseTheNewestLegacyOne) {
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    const Value result =
        Ask("initialize", Value(Value::Map{{"protocolVersion", version}}), {})["result"];
    EXPECT_EQ(result["protocolVersion"].AsString(), version);
    EXPECT_EQ(result["instructions"].AsString(), McpInstructions());
    EXPECT_EQ(result["serverInfo"]["name"].AsString(), "kb");
    EXPECT_FALSE(result.Has("resultType"));
  }
  for (const char* version : {"2026-07-28", "1900-01-01", ""}) {
    const Value result =
        Ask("initialize", Value(Value::Map{{"protocolVersion", version}}), {})["result"];
    EXPECT_EQ(result["protocolVersion"].AsString(), "2025-11-25") << version;
  }
  EXPECT_EQ(Ask("initialize", Value(Value::Map()), {})["error"]["code"].AsInt(), -32602);
}

TEST_F(McpServerTest, LegacyResultsHaveNothingOfTheModernEra) {
  for (const char* method : {"ping", "tools/list", "resources/list", "prompts/list",
                             "resources/templates/list", "skills/list"}) {
    const Value result = Legacy(method)["result"];
    EXPECT_TRUE(result.IsMap()) << method;
    for (const char* key : {"resultType", "ttlMs", "cacheScope", "_meta"}) {
      EXPECT_FALSE(result.Has(key)) << method << " " << key;
    }
  }
}

TEST_F(McpServerTest, ModernListsSayHowLongTheyAreFresh) {
  for (const char* method : {"server/discover", "tools/list", "resources/list", "prompts/list",
                             "resources/templates/list", "skills/list"}) {
    const Value result = Modern(method)["result"];
    EXPECT_EQ(result["resultType"].AsString(), "complete") << method;
    EXPECT_GT(result["ttlMs"].AsInt(), 0) << method;
    EXPECT_TRUE(result.Has("cacheScope")) << method;
    EXPECT_TRUE(result["_meta"].Has("io.modelcontextprotocol/serverInfo")) << method;
  }
}

TEST_F(McpServerTest, TheEraIsChosenForEachRequest) {
  EXPECT_FALSE(Legacy("tools/list")["result"].Has("resultType"));
  EXPECT_TRUE(Modern("tools/list")["result"].Has("resultType"));
  EXPECT_FALSE(Legacy("tools/list")["result"].Has("resultType"));
}

TEST_F(McpServerTest, RequestsOfNoEraAreRefused) {
  const std::string version = "io.modelcontextprotocol/protocolVersion";
  const std::string capabilities = "io.modelcontextprotocol/clientCapabilities";
  const Value none{Value::Map()};
  const struct {
    const char* method;
    Value meta;
    int code;
  } kCases[] = {
      {"tools/list", {}, -32602},
      {"server/discover", {}, -32602},
      {"no/such", {}, -32602},
      {"tools/list", Value(Value::Map{{version, "2026-07-28"}}), -32602},
      {"tools/list", Value(Value::Map{{capabilities, none}}), -32602},
      {"tools/list", Value(Value::Map{{version, 5}, {capabilities, none}}), -32602},
      {"tools/list", Value(Value::Map{{version, "2026-07-28"}, {capabilities, 1}}), -32602},
      {"tools/list", Value(Value::Map{{version, "1900-01-01"}, {capabilities, none}}), -32022},
      {"tools/list", Value(Value::Map{{version, "2025-11-25"}, {capabilities, none}}), -32022},
      {"no/such", Value(Value::Map{{version, "2026-07-28"}, {capabilities, none}}), -32601},
      {"initialize", Value(Value::Map{{version, "2026-07-28"}, {capabilities, none}}), -32601},
      {"ping", Value(Value::Map{{version, "2026-07-28"}, {capabilities, none}}), -32601},
      {"logging/setLevel", Value(Value::Map{{version, "2026-07-28"}, {capabilities, none}}),
       -32601},
  };
  for (const auto& one : kCases) {
    const Value response = Ask(one.method, Value(Value::Map()), one.meta);
    EXPECT_EQ(response["error"]["code"].AsInt(), one.code)
        << one.method << " " << WriteJson(one.meta) << " " << WriteJson(response);
  }
}

TEST_F(McpServerTest, AnUnknownVersionNamesTheSupportedOnes) {
  Value meta =
      Value(Value::Map{{"io.modelcontextprotocol/protocolVersion", "2031-01-01"},
                       {"io.modelcontextprotocol/clientCapabilities", Value(Value::Map())}});
  const Value data = Ask("tools/list", Value(Value::Map()), meta)["error"]["data"];
  EXPECT_EQ(WriteJson(data), R"({"supported":["2026-07-28"],"requested":"2031-01-01"})");
}

TEST_F(McpServerTest, UnknownLegacyMethodsAreMethodNotFound) {
  EXPECT_EQ(Legacy("no/such")["error"]["code"].AsInt(), -32601);
  EXPECT_EQ(Legacy("resources/subscribe")["error"]["code"].AsInt(), -32601);
}

TEST_F(McpServerTest, NotificationsResponsesAndBlankLinesAreNotAnswered) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})",
        R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"kb_status"}})",
        R"({"jsonrpc":"2.0","method":"no/such","params":[1,2]})",
        R"({"jsonrpc":"2.0","id":4,"result":{}})", R"({"jsonrpc":"2.0","id":4,"error":{}})", "",
        " \r", "\t"}) {
    EXPECT_TRUE(Send(line).empty()) << line;
  }
}

TEST_F(McpServerTest, IdsComeBackAsTheyWere) {
  for (const char* id : {"0", "-5", "9007199254740993", "\"\"", "\"a\\u0000\\n\\\"b\"", "\"é\""}) {
    const auto messages = Send(std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}");
    ASSERT_EQ(messages.size(), 1U) << id;
    EXPECT_EQ(messages[0]["id"], *ParseJson(id)) << id;
    EXPECT_TRUE(messages[0]["result"].IsMap());
  }
}

TEST_F(McpServerTest, AnOverlongLineIsAnInvalidRequest) {
  lines_.clear();
  Server().HandleTooLong();
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(ParseJson(lines_[0]).value()["error"]["code"].AsInt(), -32600);
}

TEST_F(McpServerTest, ProgressIsToldToThoseWhoAskAndIncreases) {
  IndexAll();
  for (const char* token : {"7", "\"tok\""}) {
    Value meta = ModernMeta();
    meta.Set("progressToken", *ParseJson(token));
    Value params(Value::Map{{"name", "kb_search"},
                            {"arguments", Value(Value::Map{{"query", "bank conflicts"}})},
                            {"_meta", meta}});
    Value request(Value::Map{
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", std::move(params)}});
    const auto messages = Send(WriteJson(request));
    ASSERT_GE(messages.size(), 2U);
    double last = 0;
    for (size_t i = 0; i + 1 < messages.size(); ++i) {
      EXPECT_EQ(messages[i]["method"].AsString(), "notifications/progress");
      const Value& progress = messages[i]["params"];
      EXPECT_EQ(WriteJson(progress["progressToken"]), token);
      EXPECT_GT(progress["progress"].AsDouble(), last);
      last = progress["progress"].AsDouble();
      EXPECT_LE(last, progress["total"].AsDouble());
    }
    EXPECT_TRUE(messages.back().Has("result"));
  }
}

TEST_F(McpServerTest, WithoutATokenThereIsNoProgress) {
  IndexAll();
  const Value params(Value::Map{{"name", "kb_search"},
                                {"arguments", Value(Value::Map{{"query", "bank conflicts"}})}});
  (void)Modern("tools/call", params);
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(McpServerTest, ACancelledRequestIsNotAnswered) {
  IndexAll();
  cancelled_ = Value("gone");
  const std::string call =
      R"(,"method":"tools/call","params":{"name":"kb_search","arguments":{"query":"bank conflicts"},)"
      R"("_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  EXPECT_TRUE(Send(R"({"jsonrpc":"2.0","id":"gone")" + call).empty());
  EXPECT_FALSE(Send(R"({"jsonrpc":"2.0","id":"here")" + call).empty());
}

TEST_F(McpServerTest, ARequestThatIsCancelledOnItsWayStops) {
  IndexAll();
  on_line_ = [this] { cancelled_ = Value(1); };
  const std::string call =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kb_search","arguments":)"
      R"({"query":"bank conflicts"},"_meta":{"progressToken":1,)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  EXPECT_EQ(Send(call).size(), 1U);  // the first progress and no more
}

TEST_F(McpServerTest, HalfAModernRequestIsRefusedAfterInitializeToo) {
  EXPECT_TRUE(Legacy("tools/list").Has("result"));
  for (const char* key : {"protocolVersion", "clientCapabilities"}) {
    const Value meta(
        Value::Map{{std::string("io.modelcontextprotocol/") + key, Value(Value::Map())}});
    EXPECT_EQ(Ask("tools/list", Value(Value::Map()), meta)["error"]["code"].AsInt(), -32602) << key;
  }
}

TEST_F(McpServerTest, AnswersAreTheSameBytesEachTime) {
  IndexAll();
  const std::string line =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kb_context","arguments":)"
      R"({"task":"avoid bank conflicts"},"_meta":{"io.modelcontextprotocol/protocolVersion":)"
      R"("2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
  (void)Send(line);
  const std::string first = lines_.at(0);
  (void)Send(line);
  EXPECT_EQ(lines_.at(0), first);
}

TEST_F(McpServerTest, AnIndexThatAppearsLaterIsServed) {
  const Value before = Call("kb_search", Value(Value::Map{{"query", "bank conflicts"}}));
  EXPECT_TRUE(before["isError"].AsBool());
  EXPECT_NE(TextOf(before).find("kb index"), std::string::npos) << TextOf(before);
  EXPECT_FALSE(Call("kb_status", {})["structuredContent"]["indexed"].AsBool(true));
  EXPECT_TRUE(Modern("resources/list")["result"]["resources"].AsList().empty());
  EXPECT_TRUE(Modern("skills/list")["result"]["skills"].AsList().empty());
  IndexAll();
  const Value after = Call("kb_search", Value(Value::Map{{"query", "bank conflicts"}}));
  EXPECT_FALSE(after["structuredContent"]["hits"].AsList().empty());
  EXPECT_FALSE(Modern("resources/list")["result"]["resources"].AsList().empty());
}

TEST_F(McpServerTest, ANewerIndexIsServedAtOnce) {
  IndexAll();
  const Value question(Value::Map{{"query", "persistent cooperative megakernel"}});
  EXPECT_TRUE(Call("kb_search", question)["structuredContent"]["nothing_applies"].AsBool());
  WriteSkill("megakernel", "Write a persistent cooperative megakernel", "Loop over the grid.\n");
  ASSERT_EQ(Run({"index"}).exit_code, 0);
  const Value found = Call("kb_search", question)["structuredContent"];
  ASSERT_FALSE(found["hits"].AsList().empty());
  EXPECT_EQ(found["hits"].AsList()[0]["bundle_id"].AsString(), "megakernel");
  EXPECT_EQ(found["generation"].AsInt(), 2);
}

TEST_F(McpServerTest, AnIndexMadeAnewWithTheSameNumberIsServed) {
  IndexAll();
  EXPECT_FALSE(Modern("resources/list")["result"]["resources"].AsList().empty());
  std::filesystem::remove_all(".kb");
  std::filesystem::remove_all("skills");
  WriteSkill("only-this", "Something else", "Text.\n");
  std::filesystem::remove_all("traces");
  ASSERT_EQ(Run({"index", "skills"}).exit_code, 0);
  const Value list = Modern("resources/list")["result"]["resources"];
  ASSERT_EQ(list.AsList().size(), 1U);
  EXPECT_EQ(list.AsList()[0]["uri"].AsString(), "kb://only-this");
}

}  // namespace
}  // namespace kb
