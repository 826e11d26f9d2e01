// @modelcontextprotocol/sdk 1.x: a legacy client.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { assert, check, checkClient, finish, server } from "./check.mjs";

const client = new Client({ name: "kb-test", version: "1.0.0" });
// This SDK drops progress that arrives in one read with its result, and complains.
const problems = [];
client.onerror = (error) => /progress notification for an unknown token/.test(error) || problems.push(error);
const transport = new StdioClientTransport(server);
await client.connect(transport);
await checkClient("sdk legacy", client, (name, args) => client.callTool({ name, arguments: args }));
await check("sdk legacy: ping", () => client.ping());
await check("sdk legacy: a client that wants progress gets its result", async () => {
  const seen = [];
  const result = await client.callTool({ name: "kb_search", arguments: { query: "bank conflicts" } }, undefined,
    { onprogress: (progress) => seen.push(progress.progress) });
  assert.ok(!result.isError);
  assert.deepEqual(seen, [1, 2].slice(0, seen.length));
});
// The server is stopped until requests and cancellations lie in its input. Else it may have answered
// the first before its cancellation is written, as the protocol allows, and the client complains.
await check("sdk legacy: cancelled requests get no answer and the server goes on", async () => {
  const cancel = new AbortController();
  process.kill(transport.pid, "SIGSTOP");
  try {
    const many = Array.from({ length: 50 }, () =>
      client.callTool({ name: "kb_context", arguments: { task: "softmax" } }, undefined, { signal: cancel.signal }));
    cancel.abort("enough");
    const outcomes = await Promise.allSettled(many);
    assert.ok(outcomes.every((one) => one.status === "rejected"));
    await new Promise(setImmediate);  // what the stream held back is written too
  } finally {
    process.kill(transport.pid, "SIGCONT");
  }
  await client.ping();
  assert.deepEqual(problems, []);
});
await check("sdk legacy: the client saw nothing that is no message", () => assert.deepEqual(problems, []));
await client.close();
finish("sdk.mjs");
