/** Every import between the folders of src/ stands in the table of layers. */
import { globSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Import, importsOf, root, sources } from "./imports.ts";
import { layers } from "./table.ts";

/** Public parts of folders that can be imported alone. Those of tests are for tests. */
const entries = new Set(Object.keys(manifest.imports).filter((entry) => !entry.endsWith("/testing")));

function wrongImport({ file, target }: Import): string | undefined {
  const folder = file.split("/")[1] ?? "";
  const layer = layers[folder];
  if (layer === undefined) return `${file}: the folder src/${folder} has no row in the table`;
  if (target.startsWith("node:") || builtinModules.includes(target)) return undefined;
  if (target.startsWith(".")) {
    const path = relative(root, resolve(root, dirname(file), target));
    return path.startsWith(`src/${folder}/`) || path === "package.json"
      ? undefined
      : `${file} reaches out of its folder to ${path}: import it as #${path.split("/")[1]}`;
  }
  if (target.startsWith("#")) {
    const [name = "", ...deeper] = target.slice(1).split("/");
    if (!layer.folders.includes(name)) return `${file} (src/${folder}) may not import ${target}`;
    return deeper.length === 0 || entries.has(target)
      ? undefined
      : `${file} imports ${target}: only a folder's index is public`;
  }
  const packageName = target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
  return layer.packages.includes(packageName)
    ? undefined
    : `${file} (src/${folder}) may not import the package ${packageName}`;
}

describe("layers", () => {
  it("every import stands in the table", () => {
    expect(sources.length).toBeGreaterThan(0);
    expect(
      sources
        .flatMap(importsOf)
        .map(wrongImport)
        .filter((problem) => problem !== undefined),
    ).toEqual([]);
  });

  it("the table has no cycle", () => {
    const seen = new Set<string>();
    for (const [name, { folders }] of Object.entries(layers)) {
      expect(
        folders.filter((folder) => !seen.has(folder)),
        `src/${name} imports what stands below it`,
      ).toEqual([]);
      seen.add(name);
    }
  });

  it.each([
    ["src/store/memory/x.ts", "../../base/clock.ts", "reaches out of its folder"],
    ["src/base/x.ts", "#store", "may not import #store"],
    ["src/store/x.ts", "#base/clock", "only a folder's index is public"],
    ["src/base/x.ts", "lmdb", "may not import the package lmdb"],
    ["src/nowhere/x.ts", "#base", "has no row"],
  ])("%s importing %s is refused", (file, target, problem) => {
    expect(wrongImport({ file, target })).toContain(problem);
  });

  it.each(Object.keys(layers))("src/%s has a README and an index", (folder) => {
    expect(globSync(`src/${folder}/{README.md,index.ts,main.ts}`, { cwd: root }).length).toBe(2);
  });
});
