/** The programs of docs/testing.md run as they are. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "../support/command.ts";

const root = join(import.meta.dirname, "..", "..");
const text = readFileSync(join(root, "docs/testing.md"), "utf8");
const programs = [...text.matchAll(/^## (?<heading>[^\n]+)$|^```ts\n(?<program>.*?)^```$/gms)].flatMap(
  (match, i, all) => {
    const { program } = match.groups ?? {};
    const heading = all.slice(0, i).findLast((before) => before.groups?.heading !== undefined)?.groups?.heading;
    return program === undefined ? [] : [{ heading, program }];
  },
);
const work = mkdtempSync(join(tmpdir(), "k8ts-docs-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** In a checkout, the entries of the package are sources. */
function asSource(program: string): string {
  const entry = (name: string) => (name === "testing" ? "src/testing/index.ts" : `src/library/${name}.ts`);
  return program.replace(
    /from "k8ts\/(\w+)"/g,
    (_, name: string) => `from ${JSON.stringify(pathToFileURL(join(root, entry(name))).href)}`,
  );
}

describe("docs/testing.md", () => {
  it("has programs", () => expect(programs.length).toBe(8));

  it.each(programs)("runs: $heading", async ({ program }) => {
    const file = join(work, "program.mts");
    writeFileSync(file, asSource(program));
    const { code, stderr, stdout } = await run(process.execPath, [file], { env: process.env, cwd: work });
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 });
  });
});
