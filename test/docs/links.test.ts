/** Relative links in Markdown pages lead to files that exist. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../layers/imports.ts";

const pages = globSync(["*.md", "docs/**/*.md", "src/**/*.md", "bench/**/*.md", "test/**/*.md"], { cwd: root }).sort();

it.each(pages)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target);
  const relative = links.filter((target) => !/^[a-z]+:/.test(target));
  expect(relative.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});
