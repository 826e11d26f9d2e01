// mcp-inspector in the legacy, auto and modern eras, as a person would call it.
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, calls, check, finish, server } from "./check.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const inspector = join(here, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

function inspect(era, ...words) {
  const argv = [inspector, "--cli", server.command, ...server.args, "--protocol-era", era, "--format", "json", ...words];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { maxBuffer: 1 << 26 }, (error, out, talk) =>
      resolve({ status: error?.code ?? 0, out, talk }));
  });
}

async function good(era, ...words) {
  const { status, out, talk } = await inspect(era, ...words);
  assert.equal(status, 0, talk + out);
  return JSON.parse(out);
}

const kToolError = 5;  // the inspector's exit status

for (const era of ["legacy", "auto", "modern"]) {
  await check(`${era}: tools/list --strict`, async () => {
    const { status, out, talk } = await inspect(era, "--method", "tools/list", "--strict");
    assert.equal(status, 0, talk);
    assert.doesNotMatch(talk, /\d+ (error|warning)/i);
    assert.ok(JSON.parse(out).result.tools.length >= 5);
  });
  for (const { tool, good: fine, bad, says } of calls) {
    const call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json"];
    await check(`${era}: ${tool}, good arguments`, () => good(era, ...call, JSON.stringify(fine)));
    await check(`${era}: ${tool}, bad arguments`, async () => {
      const { status, out, talk } = await inspect(era, ...call, JSON.stringify(bad));
      assert.equal(status, kToolError, talk);
      assert.ok((out + talk).includes(says), out + talk);
    });
  }
  await check(`${era}: resources`, async () => {
    const { result } = await good(era, "--method", "resources/list");
    assert.ok(result.resources.length >= 12);
    await good(era, "--method", "resources/read", "--uri", result.resources[0].uri);
    await good(era, "--method", "resources/templates/list");
    const { status } = await inspect(era, "--method", "resources/read", "--uri", "kb://none");
    assert.notEqual(status, 0);
  });
  await check(`${era}: prompts`, async () => {
    await good(era, "--method", "prompts/list");
    await good(era, "--method", "prompts/get", "--prompt-name", "write-kernel", "--prompt-args", "task=softmax");
    const { status } = await inspect(era, "--method", "prompts/get", "--prompt-name", "none");
    assert.notEqual(status, 0);
  });
  await check(`${era}: skills/list --verify --require-digests`, async () => {
    const { status, talk } = await inspect(era, "--method", "skills/list", "--verify", "--require-digests");
    assert.equal(status, 0, talk);
  });
  await check(`${era}: a folder of a skill`, () =>
    good(era, "--method", "resources/directory/read", "--uri", "skill://tensor-core-mma"));
}
finish("inspector.mjs");
