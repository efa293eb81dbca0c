/**
 * Who may import whom. The table is the architecture: a folder may import what stands in its row, its own files, and packages of its row.
 * Tests, and folders named `testing`, may import everything.
 */
import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

interface Layer {
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/** What only those who put a cluster together may import. */
const PARTS = [
  "base",
  "api",
  "store",
  "pki",
  "apiserver",
  "client",
  "controllers",
  "scheduler",
  "kubelet",
  "network",
  "cloud",
  "flows",
] as const;

const layers: Record<string, Layer> = {
  base: { folders: [], packages: [] },
  flows: { folders: ["base"], packages: [] },
  api: { folders: ["base"], packages: ["re2js", "yaml"] },
  store: { folders: ["base"], packages: ["lmdb", "@grpc/grpc-js", "@grpc/proto-loader"] },
  pki: { folders: ["base"], packages: ["yaml"] },
  apiserver: { folders: ["base", "flows", "api", "store", "pki"], packages: ["@grpc/grpc-js", "jose", "yaml"] },
  client: { folders: ["base", "flows", "api"], packages: [] },
  controllers: { folders: ["base", "flows", "api", "client"], packages: [] },
  scheduler: { folders: ["base", "flows", "api", "client"], packages: ["yaml"] },
  kubelet: {
    folders: ["base", "flows", "api", "pki", "client"],
    packages: ["@grpc/grpc-js", "@grpc/proto-loader", "ws", "yaml"],
  },
  network: { folders: ["base", "flows", "api", "client"], packages: ["dns-packet", "re2js"] },
  cloud: { folders: ["base", "flows", "api", "client", "controllers"], packages: [] },
  dashboard: {
    folders: ["base", "flows", "api"],
    packages: ["ws", "preact", "@preact/signals", "@xterm/xterm", "@xterm/addon-fit", "yaml"],
  },
  cluster: { folders: [...PARTS], packages: ["yaml"] },
  cmd: { folders: [...PARTS, "dashboard", "cluster"], packages: ["commander", "yaml"] },
};

interface Import {
  readonly file: string;
  readonly target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(
    /(?:^|\s)(?:import|export)\s[^"'`;]*?from\s+["']([^"']+)["']|(?:^|\s)import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g,
  );
  return [...found].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? "" }));
}

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
    return deeper.length === 0 ? undefined : `${file} imports ${target}: only a folder's index is public`;
  }
  const packageName = target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
  return layer.packages.includes(packageName)
    ? undefined
    : `${file} (src/${folder}) may not import the package ${packageName}`;
}

const sources = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter(
  (file) => !file.endsWith(".test.ts") && !file.includes("/testing/"),
);

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
