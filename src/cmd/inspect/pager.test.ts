import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { showPaged } from "./pager.ts";

const dir = mkdtempSync(join(tmpdir(), "pager-test-"));
const file = join(dir, "shown");
afterAll(() => rmSync(dir, { recursive: true }));

const WIDE = `${"x".repeat(100)}\n`;
const env = { PATH: process.env.PATH, PAGER: `cat > ${file}` };
const screen = { isTTY: true, columns: 80, rows: 24 };

async function written(text: string, terminal: object, more: NodeJS.ProcessEnv): Promise<string> {
  let seen = "";
  await showPaged(text, { ...terminal, write: (words) => (seen += words) }, more);
  return seen;
}

describe("a pager", () => {
  it.each([
    ["fits", "short\n", screen, env],
    ["goes to no terminal", WIDE, { columns: 80, rows: 24 }, env],
    ["goes to one that cannot be moved", WIDE, screen, { ...env, TERM: "dumb" }],
    ["has no pager", WIDE, screen, { ...env, PAGER: "no-such-pager -S 2> /dev/null" }],
  ])("is not used for what %s", async (_, text, terminal, more) => {
    expect(await written(text, terminal, more)).toBe(text);
  });

  it.each([
    ["wide", WIDE],
    ["long", "x\n".repeat(100)],
  ])("gets what is too %s, as PAGER says", async (_, text) => {
    expect(await written(text, screen, env)).toBe("");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it.each([
    ["-SRX", env],
    ["-R", { ...env, LESS: "-R" }],
  ])("finds LESS=%s", async (want, more) => {
    await written(WIDE, screen, { ...more, PAGER: `echo $LESS > ${file}` });
    expect(readFileSync(file, "utf8")).toBe(`${want}\n`);
  });

  it("keeps Ctrl-C for itself while it runs, and may end early", async () => {
    const before = process.listenerCount("SIGINT");
    const showing = written(WIDE.repeat(10_000), screen, { ...env, PAGER: "head -1 > /dev/null" });
    expect(process.listenerCount("SIGINT")).toBe(before + 1);
    expect(await showing).toBe("");
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});
