/** Decisions are listed, and figures in them are dated: a figure is true of its day. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../layers/imports.ts";

const FIGURE = /\d(?:[\d.,]*\d)? ?(?:ms|µs|ns|s|seconds|times|MB|KB|kB|GB|%)(?![\w-])/;
const DATE = /\b20\d\d-\d\d-\d\d\b/;

const adrs = globSync("docs/adr/[0-9]*.md", { cwd: root }).sort();

function undatedFigure(text: string): string | undefined {
  return DATE.test(text) ? undefined : FIGURE.exec(text)?.[0];
}

describe("decisions", () => {
  it.each(adrs)("%s dates its figures", (file) => {
    expect(undatedFigure(readFileSync(join(root, file), "utf8"))).toBeUndefined();
  });

  it("are all listed, and nothing else is", () => {
    const list = readFileSync(join(root, "docs/adr/README.md"), "utf8");
    const listed = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, file = ""]) => file);
    expect(listed.sort()).toEqual(adrs.map((file) => basename(file)));
  });

  it.each([
    { text: "It takes 12 ms.", want: "12 ms" },
    { text: "It is 1.4 times as fast.", want: "1.4 times" },
    { text: "It takes 12 ms (2026-11-15).", want: undefined },
    { text: "HTTP/2 of our own, 1,500 lines", want: undefined },
  ])("$text", ({ text, want }) => {
    expect(undatedFigure(text)).toBe(want);
  });
});
