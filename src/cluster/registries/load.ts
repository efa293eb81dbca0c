/** Reads registries.yaml, and the files that it names. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ClusterError } from "../config/errors.ts";
import { type CompiledRegistries, compileRegistries } from "./compile.ts";
import { parseRegistries } from "./registries-file.ts";

/** Of files that are there. */
export const NOTHING: CompiledRegistries = { files: new Map(), credentials: [], rewrites: new Map() };

/** Undefined if there is no such file. Throws ClusterError, which names it. */
export function loadRegistries(file: string, rewriteUrl: string): CompiledRegistries | undefined {
  let source: string;
  try {
    source = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ClusterError(`${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  try {
    const text = (path: string) => readFileSync(resolve(dirname(file), path), "utf8");
    return compileRegistries(parseRegistries(source), { text, rewriteUrl });
  } catch (error) {
    throw new ClusterError(`${file}: ${(error as Error).message}.`, { cause: error });
  }
}
