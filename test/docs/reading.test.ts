/** docs/reading.md names, for each path through k8ts, the files that a reader opens: they exist, and they are few. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../layers/imports.ts";

/** The most files that a path may take to read. */
const LIMITS: Readonly<Record<string, number>> = {
  "POST pod": 30,
  "A rollout": 18,
  Scheduling: 18,
  "A Pod on a node": 25,
  "A Service in the kernel": 18,
  "`k8ts up`": 15,
  "One kind": 12,
  "A CustomResourceDefinition": 18,
};

const page = readFileSync(join(root, "docs/reading.md"), "utf8");
const paths = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    name: section.slice(0, section.indexOf("\n")).trim(),
    files: [...section.matchAll(/^\d+\. \[[^\]]+\]\(\.\.\/([^)]+)\)/gm)].map(([, file = ""]) => file),
  }));

describe("docs/reading.md", () => {
  it("has every path", () => {
    expect(paths.map(({ name }) => name)).toEqual(Object.keys(LIMITS));
  });

  it.each(paths)("$name: files that exist, each once, and few of them", ({ name, files }) => {
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(new Set(files).size).toBe(files.length);
    expect(files.length).toBeGreaterThan(3);
    expect(files.length).toBeLessThanOrEqual(LIMITS[name] ?? 0);
  });
});
