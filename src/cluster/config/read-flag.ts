/** Reads files that flags name. */
import { readFile } from "node:fs/promises";
import { ClusterError } from "./errors.ts";

/** Throws ClusterError, which names the flag. */
export async function readFlag(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ClusterError(`${flag}: ${(error as Error).message}.`, { cause: error });
  }
}

export function joined(...bundles: readonly string[]): string {
  return bundles.map((pem) => `${pem.trimEnd()}\n`).join("");
}
