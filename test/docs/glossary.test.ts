/** docs/glossary.md is an alphabetical table with one line for each term. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../layers/imports.ts";
import { tablesIn } from "./markdown-tables.ts";

const [table] = tablesIn(readFileSync(join(root, "docs/glossary.md"), "utf8"));
const terms = (table?.rows ?? []).map(([term = ""]) => term);

it("has each term once, in alphabetical order", () => {
  expect(terms.length).toBeGreaterThan(50);
  expect(terms).toEqual([...new Set(terms)].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase())));
});

it.each(["docs/architecture.md", "CONTRIBUTING.md"])("%s links to it", (page) => {
  expect(readFileSync(join(root, page), "utf8")).toContain("glossary.md)");
});
