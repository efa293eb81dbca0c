/**
 * The types of the library: one declaration file for each source that an entry reaches, and no others.
 *
 *     tsc ──► declarations of all sources ──► those that entries reach ──► imports of #folders become relative ones
 *
 * 1. What is written stands alone: it names no source, and only packages that users of the package have.
 * 2. Types of `k8ts/api` name nothing of Node: `src/api` imports what browsers get.
 */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { BROWSER_ENTRIES, ENTRIES } from "./entries.ts";

/** `from "…"` and `import("…")`, with the name of a module between quotes. */
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)"([^"]+)"/g;

export async function writeDeclarations(root: string, outdir: string): Promise<void> {
  const { imports } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    readonly imports: Readonly<Record<string, string | { readonly browser: string; readonly default: string }>>;
  };
  const folderOf = (name: string, from: string) => {
    const target = imports[name];
    if (target === undefined || typeof target === "string") return target;
    return from.startsWith("src/api/") ? target.browser : target.default;
  };
  const work = await mkdtemp(join(tmpdir(), "k8ts-types-"));
  try {
    const pending: string[] = [...Object.values(ENTRIES), ...Object.values(BROWSER_ENTRIES)];
    const browsers = Object.values(imports).flatMap((target) => (typeof target === "string" ? [] : [target.browser]));
    await emit(root, work, [...pending, ...browsers]);
    const written = new Set(pending);
    for (const source of pending) {
      const text = await readFile(join(work, declarationOf(source)), "utf8");
      const standing = text.replace(SPECIFIER, (whole, before: string, name: string) => {
        const target = name.startsWith("#") ? folderOf(name, source)?.slice(2) : relativeTo(source, name);
        if (target === undefined) return whole;
        if (!written.has(target)) {
          written.add(target);
          pending.push(target);
        }
        const path = relative(dirname(source), target).replace(/\.ts$/, ".js");
        return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
      });
      const file = join(outdir, declarationOf(source).slice("src/".length));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, standing);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function emit(root: string, outDir: string, sources: readonly string[]): Promise<void> {
  const config = join(outDir, "tsconfig.json");
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir },
    typeRoots: [join(root, "node_modules/@types")],
  };
  const files = sources.map((source) => join(root, source));
  const content = { extends: join(root, "tsconfig.json"), compilerOptions, include: [], files };
  await writeFile(config, JSON.stringify(content));
  execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", config], { stdio: "inherit" });
}

function declarationOf(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}

/** The source that a relative import names; undefined: a package, or a module of Node. */
function relativeTo(source: string, name: string): string | undefined {
  return name.startsWith(".") ? join(dirname(source), name) : undefined;
}
