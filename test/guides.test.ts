/** The commands of docs/guides, run in their order on one cluster for each page: each succeeds, and says what the page says. */
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./layers/imports.ts";
import { start } from "./support/command.ts";
import { guide } from "./support/guide.ts";
import { Home } from "./support/k8ts.ts";
import { tool } from "./support/tools.ts";

/** Their commands need machines of their own: test/containerd/networking-guide.test.ts, test/containerd/join.test.ts. */
const ELSEWHERE = ["first-steps.md", "networking.md", "images.md", "machines.md"];
const INDEX = "README.md";
const all = readdirSync(join(root, "docs/guides")).filter((file) => file !== INDEX);
const pages = all.filter((file) => !ELSEWHERE.includes(file));
const guides = pages.map((file) => ({ file, ...guide(`docs/guides/${file}`) }));

const kubectl = tool("kubectl");

/** Times differ from run to run. */
const ageless = (text: string) => text.replaceAll(/ for \d+ (s|min)/g, " for a while");

it("the index has each guide", () => {
  const index = readFileSync(join(root, "docs/guides", INDEX), "utf8");
  const linked = [...index.matchAll(/^\| \[[^\]]+\]\(([a-z-]+\.md)\)/gm)].map(([, file]) => file);
  expect(linked.sort()).toEqual(all.sort());
});

// Each has a cluster of its own: they wait side by side.
describe.skipIf(kubectl === undefined).each(guides)("docs/guides/$file", { concurrent: true }, ({ up, steps }) => {
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    if (up === undefined) return;
    const started = await home.k8ts("up", ...up, "--port", "0", "--detach");
    if (started.code !== 0) throw new Error(started.stderr);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  async function run(command: string): Promise<{ readonly code: number | null; readonly said: string }> {
    const path = [dirname(kubectl ?? ""), join(root, "bin"), process.env.PATH].join(delimiter);
    const { code, stdout, stderr } = await start("bash", ["-c", command], {
      env: { ...home.env, PATH: path },
      cwd: home.dir,
    }).ended();
    return { code, said: code === 0 ? stdout : stderr };
  }

  it.sequential("has commands", () => expect(steps.length).toBeGreaterThan(4));

  it.sequential.for(steps)("$command", { timeout: 90_000 }, async ({ command, says }, { expect }) => {
    if (says === undefined) {
      expect(await run(command)).toMatchObject({ code: 0 });
      return;
    }
    // What a command says of may take a moment to happen.
    const first = async () => ageless((await run(command)).said.split("\n")[0] ?? "");
    await expect.poll(first, { timeout: 30_000, interval: 200 }).toBe(ageless(says));
  });
});
