/** The source files of the project and what they import. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

export interface Import {
  readonly file: string;
  readonly target: string;
}

/** All but tests and what exists for tests. */
export const sources = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter(
  (file) => !/\.test\.tsx?$/.test(file) && !file.includes("/testing/"),
);

export function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(
    /(?:^|\s)(?:import|export)\s[^"'`;]*?from\s+["']([^"']+)["']|(?:^|\s)import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g,
  );
  return [...found].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? "" }));
}
