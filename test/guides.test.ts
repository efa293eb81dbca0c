/** The commands of docs/guides, run in their order on one cluster: each succeeds, and says what the page says. */
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./layers/imports.ts";
import { start } from "./support/command.ts";
import { Home } from "./support/k8ts.ts";
import { tool } from "./support/tools.ts";

interface Step {
  readonly command: string;
  /** The first line that it says; none: anything. */
  readonly says: string | undefined;
}

const stepsOf = (name: string) => {
  const page = readFileSync(join(root, "docs/guides", name), "utf8");
  return [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    block.split(/^\$ /m).flatMap((part): Step[] => {
      const [command = "", says] = part.trimEnd().split("\n");
      return command === "" ? [] : [{ command, says }];
    }),
  );
};
const pages = readdirSync(join(root, "docs/guides")).map((name) => ({ name, steps: stepsOf(name) }));

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

describe.skipIf(kubectl === undefined).each(pages)("docs/guides/$name", ({ steps }) => {
  it("has commands", () => expect(steps.length).toBeGreaterThan(4));

  it.each(steps)("$command", { timeout: 60_000 }, async ({ command, says }) => {
    if (says === undefined) {
      expect(await run(command)).toMatchObject({ code: 0 });
      return;
    }
    // What a command says of may take a moment to happen.
    const first = async () => ageless((await run(command)).said.split("\n")[0] ?? "");
    await expect.poll(first, { timeout: 30_000, interval: 200 }).toBe(ageless(says));
  });
});
