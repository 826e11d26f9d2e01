// Checks with names. KB: the program; KB_DIR: an index that scripts/test-mcp has made;
// KB_REPORT: an Nsight Compute report.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const server = { command: process.env.KB, args: ["mcp", "--kb-dir", process.env.KB_DIR] };
export { assert };

let failed = 0;
let passed = 0;

export async function check(name, body) {
  try {
    await body();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n        ${String(error?.stack ?? error).split("\n").slice(0, 6).join("\n        ")}`);
  }
}

export function finish(what) {
  console.log(`${what}: ${passed} checks passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

// A tool, good arguments and bad ones with what the complaint says.
export const calls = [
  { tool: "kb_search", good: { query: "shared memory bank conflicts", k: 2, kind: ["skill"] }, bad: { query: "x", k: 0 }, says: "from 1 to 1000" },
  { tool: "kb_get", good: { document: "shared-memory-banks" }, bad: { document: "shared-memory-bank" }, says: "did you mean shared-memory-banks" },
  { tool: "kb_context", good: { task: "write a bf16 softmax for H100", arch: "sm_90" }, bad: { task: "x", arch: "hopper" }, says: "sm_90" },
  { tool: "kb_advise", good: { ncu: readFileSync(process.env.KB_REPORT, "utf8") }, bad: { ncu: "/etc/passwd" }, says: "no line begins with" },
  { tool: "kb_trace", good: { trace: "softmax-by-steps" }, bad: { trace: "shared-memory-banks" }, says: "no trace" },
  { tool: "kb_status", good: {}, bad: { nonsense: true }, says: "unknown argument" },
];

// What every client sees; `client` has the methods that both SDKs share.
export async function checkClient(label, client, call) {
  await check(`${label}: instructions`, () => {
    const text = client.getInstructions();
    assert.ok(text.includes("Call kb_context before writing") && text.length <= 2048);
  });
  const { tools } = await client.listTools();
  await check(`${label}: tools are listed`, () => {
    assert.ok(tools.length <= 6);
    for (const { tool } of calls) assert.ok(tools.some((one) => one.name === tool), tool);
    for (const one of tools) assert.equal(one.annotations.readOnlyHint, true);
  });
  for (const { tool, good, bad, says } of calls) {
    await check(`${label}: ${tool}, good arguments`, async () => {
      const result = await call(tool, good);  // both SDKs validate structuredContent
      assert.ok(!result.isError, result.content?.[0]?.text);
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
      assert.ok(JSON.stringify(result).length < 50000);
    });
    await check(`${label}: ${tool}, bad arguments`, async () => {
      const result = await call(tool, bad);
      assert.equal(result.isError, true);
      assert.ok(result.content[0].text.includes(says), result.content[0].text);
    });
  }
  await check(`${label}: an unknown tool`, () =>
    assert.rejects(call("kb_none", {}), (error) => error.code === -32602));
  await check(`${label}: every resource is read`, async () => {
    let cursor;
    let count = 0;
    do {
      const page = await client.listResources(cursor ? { cursor } : undefined);
      for (const { uri, mimeType } of page.resources) {
        const { contents } = await client.readResource({ uri });
        assert.equal(mimeType, "text/markdown");
        assert.match(contents[0].text, /^<kb-item id="[^"]+" kind="[^"]+" trust="[^"]+"/);
        count += 1;
      }
      cursor = page.nextCursor;
    } while (cursor);
    assert.ok(count >= 12, `${count}`);
  });
  await check(`${label}: an unknown resource`, () =>
    assert.rejects(client.readResource({ uri: "kb://none" }), (error) => error.code === -32602));
  await check(`${label}: templates`, async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.some((one) => one.uriTemplate === "kb://{+id}"));
  });
  await check(`${label}: every prompt`, async () => {
    const { prompts } = await client.listPrompts();
    assert.equal(prompts.length, 3);
    for (const { name, arguments: wanted } of prompts) {
      const result = await client.getPrompt({ name, arguments: { [wanted[0].name]: "bank conflicts" } });
      assert.match(result.messages[0].content.text, /<kb-item id=/);
      await assert.rejects(client.getPrompt({ name, arguments: {} }), (error) => error.code === -32602);
    }
  });
}
