/**
 * Answers of a real Kubernetes server, recorded in the folder `shared` beside the project. Only tests read them; where
 * they are absent, those tests are skipped and say so by name.
 */
import { existsSync, readdirSync } from "node:fs";

const shared = new URL("../../../../shared/", import.meta.url);

/** `recordings("oracle/golden/")`: a folder ends with a slash. */
export function recordings(path = ""): URL {
  return new URL(path, shared);
}

/** The names of the files in a folder; none where there are no recordings. */
export function recordedFiles(folder: string): string[] {
  const url = recordings(folder);
  return existsSync(url) ? readdirSync(url) : [];
}
