/**
 * The user's registry mirrors (`<data dir>/certs.d`) in isolated nodes: copied whenever they change, since the folder
 * itself is the cluster's and not a node's to write to.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { ProcessId } from "../machine/processes.ts";
import type { NodeNames } from "../site/names.ts";
import type { Place } from "./place.ts";

export interface ChangedRegistries {
  copy(place: Place): Promise<void>;
}

export class Registries {
  readonly #dir: string;
  /** What each node has, by its name: belongs to one start of the node. */
  readonly #copied = new Map<string, string>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Undefined if the node has all of them. */
  async changedFor({ name }: NodeNames, { pid, started }: ProcessId): Promise<ChangedRegistries | undefined> {
    const files = await filesBelow(this.#dir);
    const content = createHash("sha256").update(JSON.stringify(files)).digest("hex");
    const now = `${pid} ${started} ${content}`;
    const before = this.#copied.get(name);
    if (before === now || (before === undefined && files.length === 0)) return undefined;
    return {
      copy: async (place) => {
        const { registryDir } = place.files;
        await place.run("find", [registryDir, "-mindepth", "1", "-delete"]);
        for (const [path, text] of files) await place.write(join(registryDir, path), text, 0o600);
        this.#copied.set(name, now);
      },
    };
  }
}

/** Paths relative to the folder, with contents. */
async function filesBelow(folder: string): Promise<(readonly [path: string, text: string])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(paths.sort().map(async (path) => [relative(folder, path), await readFile(path, "utf8")] as const));
}
