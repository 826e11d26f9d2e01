// @modelcontextprotocol/client 2.x in the legacy, auto and modern eras, and its skills client.
import { Client } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { assert, check, checkClient, finish, server } from "./check.mjs";

const eras = [
  { mode: "legacy", era: "legacy", version: "2025-11-25" },
  { mode: "auto", era: "modern", version: "2026-07-28" },
  { mode: { pin: "2026-07-28" }, era: "modern", version: "2026-07-28" },
];

for (const { mode, era, version } of eras) {
  const label = `client ${mode.pin ?? mode}`;
  const client = new Client({ name: "kb-test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const problems = [];
  client.onerror = (error) => problems.push(error);
  await client.connect(new StdioClientTransport(server));
  await check(`${label}: negotiates`, () => {
    assert.equal(client.getProtocolEra(), era);
    assert.equal(client.getNegotiatedProtocolVersion(), version);
  });
  await checkClient(label, client, (name, args) => client.callTool({ name, arguments: args }));
  await check(`${label}: every file of every skill is verified`, async () => {
    const skills = new SkillsClient(client);
    assert.ok(skills.supported && skills.directoryRead);
    const listing = await skills.list();
    assert.ok(listing.skills.length >= 10);
    for (const skill of listing.skills) {
      for (const { uri } of skill.resources) assert.equal((await skills.read(skill, uri)).verified, true);
      assert.deepEqual((await skills.get(skill.uri)).skill, skill);
      const root = await skills.readDirectory(skill.uri.replace(/\/SKILL\.md$/, ""));
      assert.ok(root.resources.some((one) => one.uri === skill.uri));
    }
    await assert.rejects(skills.get("skill://none/SKILL.md"), (error) => error.code === -32602);
  });
  await check(`${label}: the client saw nothing that is no message`, () => assert.deepEqual(problems, []));
  await client.close();
}
finish("client.mjs");
