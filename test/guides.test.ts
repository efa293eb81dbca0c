/** The commands of docs/guides/debugging.md, run in their order on one cluster: each succeeds, and says what the page says. */
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./layers/imports.ts";
import { start } from "./support/command.ts";
import { stepsOf } from "./support/guide.ts";
import { Home } from "./support/k8ts.ts";
import { tool } from "./support/tools.ts";

const steps = stepsOf("docs/guides/debugging.md");

const kubectl = tool("kubectl");
let home: Home;

beforeAll(async () => {
  home = new Home();
  const up = await home.k8ts("up", "--nodes", "1", "--runtime", "simulated", "--port", "0", "--detach");
  if (up.code !== 0) throw new Error(up.stderr);
});
afterAll(() => home[Symbol.asyncDispose]());

/** Times differ from run to run. */
const ageless = (text: string) => text.replaceAll(/ for \d+ (s|min)/g, " for a while");

async function run(command: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const path = [dirname(kubectl ?? ""), join(root, "bin"), process.env.PATH].join(delimiter);
  const { code, stdout, stderr } = await start("bash", ["-c", command], {
    env: { ...home.env, PATH: path },
    cwd: home.dir,
  }).ended();
  return { code, said: code === 0 ? stdout : stderr };
}

describe.skipIf(kubectl === undefined)("docs/guides/debugging.md", () => {
  it("has commands", () => expect(steps.length).toBeGreaterThan(10));

  it.each(steps)("$command", async ({ command, says }) => {
    if (says === undefined) {
      expect(await run(command)).toMatchObject({ code: 0 });
      return;
    }
    // What a command says of may take a moment to happen.
    const first = async () => ageless((await run(command)).said.split("\n")[0] ?? "");
    await expect.poll(first, { timeout: 30_000, interval: 200 }).toBe(ageless(says));
  });
});
