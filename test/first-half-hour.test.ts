/** What a new user tries first, as it was found in use: each command answers at once, ends, and fits the screen. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "./support/command.ts";
import { Home } from "./support/k8ts.ts";
import { startSimulated } from "./support/simulated.ts";

const ok = { code: 0, stderr: "" };
const binary = join(import.meta.dirname, "..", "bin", "k8ts");

describe("a cluster with simulated nodes", () => {
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    await startSimulated(home, 2);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  const shell = (line: string) =>
    start("bash", ["-o", "pipefail", "-c", line], { env: { ...home.env, K: binary }, cwd: home.dir }).ended();

  it("has a dashboard: the command prints a fresh link of it, and ends", async () => {
    const [first, second] = [await home.k8ts("dashboard", "--no-open"), await home.k8ts("dashboard", "--no-open")];
    const links = [first, second].map(({ stdout }) => /^Dashboard: (http:\S+)$/m.exec(stdout)?.[1] ?? "");
    expect([first, second]).toMatchObject([ok, ok]);
    expect(links[0]).not.toBe(links[1]);
    expect(new URL(links[0] ?? "").host).toBe(new URL(links[1] ?? "").host);
    expect((await fetch(links[1] ?? "", { redirect: "manual" })).status).toBe(200);
    const stderr = expect.stringContaining("--port needs --serve");
    expect(await home.k8ts("dashboard", "--port", "0")).toMatchObject({ code: 1, stderr });
  });

  it.each([
    "--help",
    "up --help-all",
    "help",
    "flow --wide",
    "flow --format json",
    "node ls",
    "ls",
    "diff 0s now --all",
  ])("`k8ts %s` is quiet when its reader leaves", async (words) => {
    const { stderr, code } = await shell(`$K ${words} | true`);
    expect({ stderr, code }).toEqual(ok);
  });

  it("draws flows that fit the terminal: columns, or lines", async () => {
    const width = (text: string) => Math.max(...text.split("\n").map((line) => line.length));
    const narrow = await shell("COLUMNS=80 $K flow");
    expect(narrow).toMatchObject(ok);
    expect(width(narrow.stdout)).toBeLessThanOrEqual(80);
    expect(narrow.stdout).toMatch(/--wide draws\s+them/);
    expect(narrow.stdout).toMatch(/^ +\d+ ms {2}\S+ ──► apiserver/m);
    const wide = await shell("COLUMNS=80 $K flow --wide");
    expect(width(wide.stdout)).toBeGreaterThan(80);
  });

  it("knows now, and leaves out what changes all the time", async () => {
    const [all, some] = [await home.k8ts("diff", "1", "now", "--all"), await home.k8ts("diff", "1", "now")];
    expect([all, some]).toMatchObject([ok, ok]);
    expect(all.stdout).toMatch(/^\+ ipaddresses\./m);
    expect(some.stdout).toMatch(/^\+ nodes node-1$/m);
    expect(some.stdout).not.toMatch(/ipaddresses|leases/);
  });

  it.each([
    [["help", "node", "add"], "Usage: k8ts node add [options] [name]"],
    [["help", "image", "import"], "Usage: k8ts image import [options] <images...>"],
    [["node", "add", "--help"], "Usage: k8ts node add [options] [name]"],
    [["help"], "Usage: k8ts [options] [command]"],
  ])("%j is the help of that command", async (words, want) => {
    const { stdout, code } = await home.k8ts(...words);
    expect([code, stdout.split("\n")[0]]).toEqual([0, want]);
  });
});
