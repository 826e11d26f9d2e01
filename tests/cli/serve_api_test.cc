// What kb serve answers, without sockets: each route, good and bad.
#include "cli/serve_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "kb/sha256.h"
#include "tests/cli/cli_fixture.h"

namespace kb {
namespace {

using testing::HasSubstr;

constexpr const char kEntry[] =
    "---\nkb: nnk/1\nid: row-sum\ntitle: Row sums\nclaim: 1.27 times as fast\nstate: proved\n"
    "not_when: rows are long\ncase: {name: row-sum, sha256: abc}\n"
    "best: {gpu: H200, median_us: 187.8, speedup: 1.268, ci95: [1.26, 1.28], "
    "percent_of_roofline: 88}\n---\n# Row sums\n\n`cub::WarpReduce` in segments.\n";
constexpr const char kTrace[] =
    "---\nkb: trace/1\nid: search-1\ntitle: Search\nresult: {best: A2}\n---\n# Search\n\n"
    "```yaml kb:attempt\nid: A1\nhypothesis: start\ntests: {status: PASSED}\n"
    "time: {unit: us, median: 40, baseline: 20, speedup: 0.5}\ndecision: keep\n```\n\n"
    "```yaml kb:attempt\nid: A2\nparent: A1\ntests: {status: PASSED}\n"
    "time: {unit: ms, median: 0.01}\ndecision: keep\n```\n\n"
    "```yaml kb:lesson\nid: L1\nclaim: shuffles win\nevidence: [A1, A2]\nconfidence: measured\n"
    "```\n";

class ServeApiTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    WriteSkill("warp-reduction", "Reduce within a warp. Use when summing.",
               "Use `__shfl_down_sync` to add the values of the 32 lanes of a warp.\n");
    WriteSkill("bank-conflicts", "Avoid shared memory bank conflicts. Use for tiles.",
               "Pad the rows of a shared memory tile by one word.\n");
    Write("nnk/row-sum/NNK.md", kEntry);
    Write("nnk/row-sum/evidence/b.json", "{\"status\": \"PASSED\"}");
    Write("nnk/row-sum/evidence/a.json", "no json");
    Write("nnk/row-sum/evidence/notes.txt", "not shown");
    Write("traces/2026/search-1.md", kTrace);
    ASSERT_EQ(Run({"index"}).exit_code, 0);
    options_.kb_dir = ".kb";
    options_.access = {"127.0.0.1", 8080, ""};
  }

  HttpResponse Ask(const std::string& method, const std::string& target,
                   const std::string& body = "", const HttpPairs& headers = {}) {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost:8080\r\n";
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    const HttpParse parse = ParseHttp(text);
    EXPECT_EQ(parse.state, HttpParse::State::kWhole) << parse.error << target;
    if (!api_) api_ = std::make_unique<ServeApi>(options_);
    return api_->Answer(parse.request);
  }

  // Of a good answer.
  Value JsonOf(const std::string& target) {
    const HttpResponse response = Ask("GET", target);
    EXPECT_EQ(response.status, 200) << target << ": " << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    const auto value = ParseJson(response.body);
    EXPECT_TRUE(value.has_value()) << response.body;
    return value.value_or(Value());
  }
  HttpResponse PostJson(const std::string& body) {
    return Ask("POST", "/", body, {{"Content-Type", "application/json"}});
  }
  Value Printed(const std::vector<std::string>& argv) { return Run(argv).Json(); }

  ServeOptions options_;
  std::unique_ptr<ServeApi> api_;
};

TEST_F(ServeApiTest, SaysWhatTheCommandsSay) {
  EXPECT_EQ(JsonOf("/api/search?q=bank+conflicts&k=3"),
            Printed({"search", "bank conflicts", "-k", "3", "--json"}));
  EXPECT_EQ(JsonOf("/api/search?q=shuffle&kind=skill&kind=nnk&arch=sm_90&cuda=13.0&dtype=fp32"),
            Printed({"search", "shuffle", "--kind", "skill", "--kind", "nnk", "--arch", "sm_90",
                     "--cuda", "13.0", "--dtype", "fp32", "--json"}));
  EXPECT_EQ(JsonOf("/api/context?q=sum+a+warp&budget=500"),
            Printed({"context", "sum a warp", "--budget", "500", "--json"}));
  EXPECT_EQ(JsonOf("/api/get?id=warp-reduction"), Printed({"get", "warp-reduction", "--json"}));
  Value status = JsonOf("/api/status"), printed = Printed({"status", "--json"});
  EXPECT_EQ(status["documents"], printed["documents"]);
  EXPECT_EQ(status["roots"], printed["roots"]);
}

TEST_F(ServeApiTest, AnswersAboutFiltersAndNothing) {
  const Value only = JsonOf("/api/search?q=row+sum+in+segments&kind=nnk&state=proved");
  ASSERT_EQ(only["hits"].AsList().size(), 1u);
  EXPECT_EQ(only["hits"].AsList()[0]["document"]["trust"].AsString(), "proved");
  const Value nothing = JsonOf("/api/search?q=sourdough+bread+recipe");
  EXPECT_TRUE(nothing["nothing_applies"].AsBool());
  EXPECT_FALSE(nothing["why"].AsString().empty());
}

TEST_F(ServeApiTest, PassagesAreGivenById) {
  const Value whole = JsonOf("/api/get?id=warp-reduction");
  const std::string chunk = whole["chunks"].AsList().at(0)["chunk"].AsString();
  const Value passage = JsonOf("/api/get?id=warp-reduction%23" + chunk);
  EXPECT_EQ(passage["chunk"].AsString(), chunk);
  EXPECT_THAT(whole["text"].AsString(), HasSubstr(passage["text"].AsString()));
}

TEST_F(ServeApiTest, TracesAreGivenWithTheirAttempts) {
  const Value trace = JsonOf("/api/trace?id=search-1");
  EXPECT_EQ(trace["document"]["trust"].AsString(), "recorded");
  EXPECT_EQ(trace["best"].AsString(), "A2");
  ASSERT_EQ(trace["attempts"].AsList().size(), 2u);
  const Value& first = trace["attempts"].AsList()[0];
  const Value& second = trace["attempts"].AsList()[1];
  EXPECT_EQ(first["median_us"].AsDouble(), 40);
  EXPECT_EQ(first["fields"]["time"]["baseline"].AsInt(), 20);
  EXPECT_EQ(second["parent"].AsString(), "A1");
  EXPECT_EQ(second["median_us"].AsDouble(), 10);
  EXPECT_TRUE(second["speedup"].IsNull());
  EXPECT_EQ(trace["lessons"].AsList().at(0)["evidence"].AsList().size(), 2u);
}

TEST_F(ServeApiTest, EntriesAreGivenWithTheirEvidence) {
  const Value entry = JsonOf("/api/nnk?id=row-sum");
  EXPECT_EQ(entry["speedup"].AsDouble(), 1.268);
  EXPECT_EQ(entry["ci95"].AsList().size(), 2u);
  EXPECT_EQ(entry["front_matter"]["state"].AsString(), "proved");
  const Value::List& evidence = entry["evidence"].AsList();
  ASSERT_EQ(evidence.size(), 2u);
  EXPECT_EQ(evidence[0]["file"].AsString(), "a.json");
  EXPECT_FALSE(evidence[0]["error"].AsString().empty());
  EXPECT_EQ(evidence[1]["data"]["status"].AsString(), "PASSED");
  EXPECT_EQ(evidence[1]["sha256"].AsString(), Sha256("{\"status\": \"PASSED\"}"));
}

TEST_F(ServeApiTest, EvidenceIsBoundedAndNeverALink) {
  Write("secret.json", "{\"password\": 1}");
  std::filesystem::create_symlink("../../../secret.json", "nnk/row-sum/evidence/c.json");
  std::filesystem::create_directory("nnk/row-sum/evidence/d.json");
  Write("nnk/row-sum/evidence/e.json", "\"" + std::string(1 << 20, 'x') + "\"");
  Write("nnk/row-sum/evidence/f.json", std::string(100000, '['));
  Value entry = JsonOf("/api/nnk?id=row-sum");
  ASSERT_EQ(entry["evidence"].AsList().size(), 4u);  // a, b, e, f
  EXPECT_TRUE(entry["evidence"].AsList()[2]["data"].IsNull());
  EXPECT_TRUE(entry["evidence"].AsList()[3]["data"].IsNull());
  for (int i = 0; i < 70; ++i) Write("nnk/row-sum/evidence/g" + std::to_string(i) + ".json", "1");
  entry = JsonOf("/api/nnk?id=row-sum");
  EXPECT_EQ(entry["evidence"].AsList().size(), 64u);
  EXPECT_EQ(entry["evidence_left_out"].AsInt(), 10);
  std::filesystem::rename("nnk/row-sum/evidence", "elsewhere");
  std::filesystem::create_directory_symlink("../../elsewhere", "nnk/row-sum/evidence");
  EXPECT_TRUE(JsonOf("/api/nnk?id=row-sum")["evidence"].AsList().empty());
}

struct BadAsk {
  const char* method;
  const char* target;
  int status;
  const char* error;
};

TEST_F(ServeApiTest, BadRequestsSayWhatIsWrongInOneLine) {
  const BadAsk table[] = {
      {"GET", "/api/search", 400, "question, is empty"},
      {"GET", "/api/search?q=", 400, "question, is empty"},
      {"GET", "/api/search?q=+++", 400, "question, is empty"},
      {"GET", "/api/search?q=a&q=b", 400, "given twice"},
      {"GET", "/api/search?q=a&k=0", 400, "whole number"},
      {"GET", "/api/search?q=a&k=1001", 400, "whole number"},
      {"GET", "/api/search?q=a&k=x", 400, "whole number"},
      {"GET", "/api/search?q=a&kind=book", 400, "kind takes skill|trace|nnk|page"},
      {"GET", "/api/search?q=a&state=new", 400, "state takes"},
      {"GET", "/api/search?q=a&arch=turing", 400, "arch takes an architecture"},
      {"GET", "/api/search?q=a&arch=--help", 400, "needs a value"},
      {"GET", "/api/search?q=a&cuda=new", 400, "cuda takes a version"},
      {"GET", "/api/search?q=a&kb-dir=/", 400, "unknown parameter 'kb-dir'"},
      {"GET", "/api/search?q=a&help=1", 400, "unknown parameter"},
      {"GET", "/api/search?q=a&json=1", 400, "unknown parameter"},
      {"GET", "/api/search?q=a&=1", 400, "unknown parameter"},
      {"GET", "/api/search?q=a&k+variant=1", 400, "unknown parameter"},
      {"GET", "/api/context?q=a&budget=1", 400, "too small"},
      {"GET", "/api/context?budget=100", 400, "question, is empty"},
      {"GET", "/api/context?q=a&k=3", 400, "unknown parameter"},
      {"GET", "/api/status?x=1", 400, "takes none"},
      {"GET", "/api/get", 400, "one id"},
      {"GET", "/api/get?id=", 400, "one id"},
      {"GET", "/api/get?id=a&id=b", 400, "twice"},
      {"GET", "/api/get?id=nowhere", 404, "no document"},
      {"GET", "/api/get?id=warp-reductoin", 404, "did you mean warp-reduction?"},
      {"GET", "/api/get?id=warp-reduction%23ffffffff", 404, "no passage"},
      {"GET", "/api/get?id=../../etc/passwd", 404, "no document"},
      {"GET", "/api/get?id=/etc/passwd", 404, "no document"},
      {"GET", "/api/get?id=nnk/row-sum/evidence/b.json", 404, "no document"},
      {"GET", "/api/get?id=%0a%1b[31m", 404, "no document"},
      {"GET", "/api/trace?id=row-sum", 404, "names no trace"},
      {"GET", "/api/nnk?id=warp-reduction", 404, "names no nnk"},
      {"GET", "/index.html", 404, "nothing is here"},
      {"GET", "//", 404, "nothing is here"},
      {"GET", "/api", 404, "nothing is here"},
      {"GET", "/api/", 404, "nothing is here"},
      {"GET", "/api/search/", 404, "nothing is here"},
      {"GET", "/API/search?q=a", 404, "nothing is here"},
      {"GET", "/../../etc/passwd", 404, "nothing is here"},
      {"GET", "/%2e%2e/%2e%2e/etc/passwd", 404, "nothing is here"},
      {"GET", "/..%5c..%5cetc%5cpasswd", 404, "nothing is here"},
      {"GET", "/skills/warp-reduction/SKILL.md", 404, "nothing is here"},
      {"GET", "/.kb/catalog.sqlite", 404, "nothing is here"},
      {"HEAD", "/", 405, "this takes GET, POST"},
      {"OPTIONS", "/", 405, "this takes GET, POST"},
      {"DELETE", "/api/get?id=warp-reduction", 405, "this takes GET"},
      {"POST", "/api/search?q=a", 405, "this takes GET"},
      {"TRACE", "/api/status", 405, "this takes GET"},
      {"PUT", "/x", 404, "nothing is here"},
  };
  for (const auto& [method, target, status, error] : table) {
    const HttpResponse response = Ask(method, target);
    EXPECT_EQ(response.status, status) << method << " " << target << ": " << response.body;
    const Value json = ParseJson(response.body).value_or(Value());
    EXPECT_THAT(json["error"].AsString(), HasSubstr(error)) << target;
    EXPECT_EQ(json["error"].AsString().find_first_of("\n\x1b"), std::string::npos) << target;
    EXPECT_EQ(status == 405, !response.headers.empty()) << target;  // Allow
  }
}

TEST_F(ServeApiTest, RagHookGivesAContext) {
  const HttpResponse response = PostJson("{\"message\": \"avoid bank conflicts\"}");
  ASSERT_EQ(response.status, 200) << response.body;
  const Value value = ParseJson(response.body).value_or(Value());
  EXPECT_THAT(value["context"].AsString(), HasSubstr("Pad the rows"));
  EXPECT_THAT(value["context"].AsString(), HasSubstr("trust=\"curated\""));
  EXPECT_EQ(value.AsMap().size(), 1u);
  EXPECT_EQ(ParseJson(PostJson("{\"message\": \"sourdough bread recipe\"}").body),
            ParseJson("{\"context\": \"\"}"));
  EXPECT_EQ(ParseJson(PostJson("{\"message\": \"\"}").body), ParseJson("{\"context\": \"\"}"));
}

TEST_F(ServeApiTest, RagHookNeverExceedsItsCap) {
  std::string body;
  for (int i = 0; i < 3000; ++i) body += "Pad tile " + std::to_string(i) + " by a word.\n\n";
  WriteSkill("bank-conflicts", "Avoid shared memory bank conflicts. Use for tiles.", body);
  ASSERT_EQ(Run({"index"}).exit_code, 0);
  options_.rag_tokens = 1000000;
  const HttpResponse response = PostJson("{\"message\": \"bank conflicts: pad the tile\"}");
  const std::string context = ParseJson(response.body).value_or(Value())["context"].AsString();
  EXPECT_GT(context.size(), 1000u);
  EXPECT_LE(context.size(), kMaxRagBytes);
}

TEST_F(ServeApiTest, RagHookRefusesWhatIsNoMessage) {
  for (const char* body : {"", "{", "[]", "3", "{\"message\": 3}", "{\"Message\": \"a\"}"}) {
    const HttpResponse response = PostJson(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_THAT(response.body, HasSubstr("{\"error\":\"the body is no")) << body;
  }
  EXPECT_EQ(Ask("POST", "/", "{\"message\": \"a\"}").status, 415);
  EXPECT_EQ(Ask("POST", "/", "{\"message\": \"a\"}", {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(PostJson("{\"message\": \"" + std::string(1 << 19, 'a') + "\"}").status, 200);
}

TEST_F(ServeApiTest, OnlyRagServesNothingElse) {
  options_.only_rag = true;
  EXPECT_EQ(PostJson("{\"message\": \"bank conflicts\"}").status, 200);
  EXPECT_EQ(Ask("GET", "/").status, 405);
  EXPECT_EQ(Ask("GET", "/api/status").status, 404);
}

TEST_F(ServeApiTest, TheTokenGuardsAllButThePage) {
  options_.access.token = "s3cret";
  for (const char* target : {"/api/search?q=a", "/api/context?q=a", "/api/get?id=a", "/api/trace",
                             "/api/nnk", "/api/status", "/nowhere"}) {
    EXPECT_EQ(Ask("GET", target).status, 401) << target;
  }
  EXPECT_EQ(PostJson("{\"message\": \"a\"}").status, 401);
  EXPECT_EQ(Ask("GET", "/").status, 200);
  EXPECT_EQ(Ask("GET", "/api/status", "", {{"Authorization", "Bearer s3cret"}}).status, 200);
  EXPECT_EQ(Ask("GET", "/", "", {{"Origin", "http://evil.example"}}).status, 403);
}

TEST_F(ServeApiTest, ThePageRunsNothingButItself) {
  const HttpResponse page = Ask("GET", "/");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  ASSERT_FALSE(page.headers.empty());
  EXPECT_THAT(page.headers[0].second, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(page.headers[0].second, testing::Not(HasSubstr("script-src 'none'")));
  const std::string_view text = WebPage();
  EXPECT_THAT(std::string(text), HasSubstr("</html>"));
  for (const char* unsafe : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                             "eval(", "http://", "https://", "src=", "onclick=", "style=\""}) {
    const std::string rest = unsafe == std::string("http://") ? "www.w3.org/2000/svg" : "";
    for (size_t at = text.find(unsafe); at != std::string_view::npos;
         at = text.find(unsafe, at + 1)) {
      const std::string_view after = text.substr(at + std::string_view(unsafe).size());
      EXPECT_TRUE(!rest.empty() && after.starts_with(rest)) << unsafe << after.substr(0, 40);
    }
  }
}

TEST_F(ServeApiTest, ANewerIndexIsSeenAtOnce) {
  EXPECT_TRUE(JsonOf("/api/search?q=ldmatrix+swizzle")["nothing_applies"].AsBool());
  WriteSkill("swizzle", "Swizzle tiles for ldmatrix. Use for tensor cores.", "XOR the row.\n");
  ASSERT_EQ(Run({"index"}).exit_code, 0);
  const Value answer = JsonOf("/api/search?q=ldmatrix+swizzle");
  ASSERT_FALSE(answer["hits"].AsList().empty());
  EXPECT_EQ(answer["hits"].AsList()[0]["document"]["id"].AsString(), "swizzle");
}

// Generations begin again with 1 in a new folder.
TEST_F(ServeApiTest, AnIndexMadeAnewUnderTheSameNumberIsSeen) {
  EXPECT_EQ(JsonOf("/api/search?q=warp")["generation"].AsInt(), 1);
  std::filesystem::remove_all(".kb");
  WriteSkill("swizzle", "Swizzle tiles for ldmatrix. Use for tensor cores.", "XOR the row.\n");
  ASSERT_EQ(Run({"index"}).exit_code, 0);
  const Value answer = JsonOf("/api/search?q=ldmatrix+swizzle");
  EXPECT_EQ(answer["generation"].AsInt(), 1);
  EXPECT_FALSE(answer["nothing_applies"].AsBool());
}

TEST_F(ServeApiTest, AnIndexThatIsGoneIsAnErrorUntilItIsBack) {
  EXPECT_EQ(Ask("GET", "/api/search?q=warp").status, 200);
  std::filesystem::remove_all(".kb");
  const HttpResponse gone = Ask("GET", "/api/search?q=warp");
  EXPECT_EQ(gone.status, 503);
  EXPECT_THAT(gone.body, HasSubstr("kb index"));
  ASSERT_EQ(Run({"index"}).exit_code, 0);
  EXPECT_EQ(Ask("GET", "/api/search?q=warp").status, 200);
}

}  // namespace
}  // namespace kb
