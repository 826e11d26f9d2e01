// The page of kb serve in headless Chromium, against a running server.
//   node page_test.mjs URL TOKEN FOLDER     screenshots go to FOLDER; exit 1 if a check failed
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const [url, token, folder] = process.argv.slice(2);
const kFlags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

let failed = 0, passed = 0;
function check(is, what) {
  is ? (passed += 1) : (failed += 1);
  if (!is) console.log("FAILED: " + what);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: kFlags });
const complaints = [], outside = [];

// A page of its own that reports what it complains of and whom it asks.
async function open(hash, { width = 1280, height = 900, colorScheme = "light", withToken = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  if (withToken) await context.addInitScript((t) => sessionStorage.setItem("kb-token", t), token);
  const page = await context.newPage();
  page.on("console", (message) => { if (message.type() === "error") complaints.push(hash + ": " + message.text()); });
  page.on("pageerror", (error) => complaints.push(hash + ": " + error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) outside.push(request.url());
  });
  await page.goto(url + hash);
  await page.waitForLoadState("networkidle");
  return page;
}
// On a wide window the two columns scroll by themselves, so it is made as high as they are.
async function shot(page, name) {
  const size = page.viewportSize();
  const height = await page.evaluate(() => Math.min(3000, document.querySelector("#detail").scrollHeight + 120));
  if (size.width > 860) await page.setViewportSize({ width: size.width, height: Math.max(size.height, height) });
  await page.screenshot({ path: join(folder, name + ".png"), fullPage: true });
  await page.setViewportSize(size);
}
const close = (page) => page.context().close();
const said = (page) => page.textContent("#said");
const focused = (page) => page.evaluate(() => document.activeElement.dataset.id || document.activeElement.id || document.activeElement.tagName);
const title = (page) => page.textContent("#detail h2");
async function fits(page, what) {
  const [inner, whole] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  check(whole <= inner, `${what}: ${whole} px wide in a window of ${inner}`);
}

// ---- search as one types, filters, what is shown of each item ----
{
  const page = await open("");
  await shot(page, "welcome-1280");
  await page.keyboard.press("/");
  check(await focused(page) === "q", "/ goes to the question");
  await page.keyboard.type("bank conflicts in shared memory", { delay: 5 });
  await page.waitForSelector("#hits a");
  check(await page.getAttribute("#hits a", "data-id") === "shared-memory-banks", "the right skill comes first");
  const first = await page.textContent("#hits li");
  check(/curated/.test(first) && /sha256 [0-9a-f]{12}/.test(first), "an item shows trust and digest: " + first);
  check(/\d+ answers?/.test(await said(page)), "the number of answers is said");
  await shot(page, "search-1280");

  await page.fill("#q", "row sums by warp shuffles in place of shared memory");
  await page.waitForSelector("#hits a[data-id=row-sum-search]");
  check(await page.locator("#hits a[data-id=row-sum-shuffles]").count() === 1, "all kinds are found at first");
  await page.selectOption("select[name=kind]", "trace");
  await page.waitForSelector("#hits a[data-id=row-sum-shuffles]", { state: "detached" });
  check(await page.getAttribute("#hits a", "data-id") === "row-sum-search", "a filter leaves its kind alone");
  check((await page.evaluate(() => location.hash)).includes("kind=trace"), "a filter is in the address");
  await page.selectOption("select[name=kind]", "");
  await page.fill("input[name=arch]", "what");
  await page.waitForSelector("#said.error");
  check(/arch takes an architecture/.test(await said(page)), "a bad filter is explained: " + await said(page));
  await page.fill("input[name=arch]", "");
  await page.waitForSelector("#hits a");
  await close(page);
}

// ---- keyboard alone ----
{
  const page = await open("#q=bank+conflicts");
  await page.waitForSelector("#hits a");
  await page.keyboard.press("/");
  await page.keyboard.press("ArrowDown");
  const first = await focused(page);
  check(first === "shared-memory-banks", "down goes to the first answer, not " + first);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check(outline === "solid", "the focus is seen");
  await page.keyboard.press("ArrowDown");
  check(await focused(page) !== first, "down goes on");
  await page.keyboard.press("ArrowUp");
  check(await focused(page) === first, "up goes back");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#detail .facts");
  check(/shared-memory-banks/.test(await title(page)), "Enter opens it");
  const marked = await page.locator("#detail .here").first();
  check(await marked.isVisible() && (await marked.boundingBox()).y < 900, "the passage that was found is in view");
  check(await page.locator("#hits a[aria-current]").count() === 1, "the open one is marked");
  check(/[0-9a-f]{64}/.test(await page.textContent("#detail .facts")), "the document shows its whole digest");
  await shot(page, "document-1280");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.hash.includes("open="));
  check(await focused(page) === first, "Esc goes back to the answer");
  await page.keyboard.press("Escape");
  check(await focused(page) === "q", "Esc again goes to the question");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#detail .facts");
  check((await page.evaluate(() => location.hash)).includes("open=shared-memory-banks"), "Enter in the question opens the first");
  await close(page);
}

// ---- an entry with its evidence ----
for (const [name, options] of [["entry-1280", {}], ["entry-400", { width: 400, height: 800 }],
  ["entry-dark-1280", { colorScheme: "dark" }]]) {
  const page = await open("#open=row-sum-shuffles", options);
  await page.waitForSelector("#detail svg");
  const text = await page.textContent("#detail");
  check(/proved/.test(text), "the entry's state is shown");
  check(/1\.268/.test(text) && /1\.261, 1\.275/.test(text), "the speedup has its interval");
  const plots = await page.$$eval("#detail svg[role=img]", (all) => all.map((one) => one.getAttribute("aria-label")));
  check(plots.length === 3, "three plots, not " + plots.length);
  check(/candidate 187\.8/.test(plots[0]), "times are spoken: " + plots[0]);
  check(/88\.4 percent/.test(plots[1]), "the roofline is spoken: " + plots[1]);
  check(/8 of 9 wrong kernels rejected; not: half-accumulate/.test(plots[2]), "kills are counted: " + plots[2]);
  await fits(page, name);
  await shot(page, name);
  await close(page);
}

// ---- a trace as a tree ----
for (const [name, options] of [["trace-1280", {}], ["trace-400", { width: 400, height: 800 }]]) {
  const page = await open("#open=row-sum-search", options);
  await page.waitForSelector("[role=treeitem]");
  const order = await page.$$eval("[role=treeitem]", (all) => all.map((one) => one.dataset.id + one.getAttribute("aria-level")));
  check(order.join(" ") === "A11 A22 A33 A43 A54 A65 A72", "the tree is in order: " + order.join(" "));
  check(/best/.test(await page.textContent("[role=treeitem][data-id=A5]")), "the best attempt is marked");
  await page.focus("[role=treeitem][data-id=A1]");
  await page.keyboard.press("ArrowDown");
  check(await focused(page) === "A2", "down moves in the tree");
  await page.keyboard.press("ArrowLeft");
  check(!(await page.isVisible("[data-id=A5]")), "left folds the attempts below");
  check(await page.isVisible("[role=treeitem][data-id=A7]"), "but not those beside");
  await page.keyboard.press("ArrowDown");
  check(await focused(page) === "A7", "down passes over what is folded");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowRight");
  check(await page.isVisible("[data-id=A5]"), "right unfolds them");
  await fits(page, name);
  await shot(page, name);
  await close(page);
}

// ---- deep links, narrow windows, nothing, hostile text ----
{
  const page = await open("#q=bank+conflicts&open=shared-memory-banks", { width: 400, height: 800 });
  await page.waitForSelector("#detail .facts");
  check(!(await page.isVisible("#hits")), "a narrow window shows the document alone");
  await fits(page, "document-400");
  await shot(page, "document-400");
  await page.click("a.back");
  await page.waitForSelector("#hits a");
  check(await page.isVisible("#hits a"), "and goes back to the answers");
  await fits(page, "search-400");
  await shot(page, "search-400");
  await close(page);
}
{
  const page = await open("#q=best+sourdough+bread+recipe+for+a+wedding");
  await page.waitForFunction(() => document.querySelector("#said").textContent);
  check(/Nothing applies/.test(await said(page)), "nothing applies is said: " + await said(page));
  check(/nearest miss/.test(await page.textContent("#hits")), "with the nearest miss");
  await shot(page, "nothing-1280");
  await close(page);
}
{
  const page = await open("#open=hostile-markup");
  await page.waitForSelector("#detail .doc");
  check(await page.evaluate(() => window.pwned === undefined), "no text of a document runs");
  check(await page.locator("#detail .doc script, #detail .doc img, #detail .doc a").count() === 0, "and none becomes an element");
  check(/<img src=x onerror/.test(await page.textContent("#detail .doc")), "it is shown as it is");
  await fits(page, "hostile");
  await close(page);
}
{
  const page = await open("#open=no-such-document");
  await page.waitForSelector("#detail [role=alert]");
  check(/no document/.test(await page.textContent("#detail")), "an unknown id is explained");
  complaints.splice(0, complaints.length, ...complaints.filter((line) => !/404/.test(line)));
  await close(page);
}

// ---- the token ----
{
  const before = complaints.length;
  const page = await open("#q=bank+conflicts", { withToken: false });
  await page.waitForSelector("input[type=password]");
  await shot(page, "token-1280");
  complaints.splice(before);  // Chromium reports each 401
  await page.fill("input[type=password]", token);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#hits a");
  check(await page.locator("#hits a").count() > 0, "the token lets one in");
  await close(page);
}

// The bad filter above is one 400.
const unexpected = complaints.filter((line) => !/status of 400/.test(line));
check(unexpected.length === 0, "the console is clean: " + unexpected.join("; "));
check(outside.length === 0, "nobody else is asked: " + outside.join(" "));
await browser.close();
console.log(`page: ${passed} checks passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
