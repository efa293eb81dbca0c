/**
 * The user's registries on nodes: `<data dir>/certs.d`, and registries.yaml, read again while the cluster runs.
 *
 *     registries.yaml ──► compiled ──► nodes/.registries ─┐
 *     certs.d ────────────────────────────────────────────┴──► isolated nodes: copies; others read the folders
 *                                 ──► credentials ──► each node's kubelet
 *                                 ──► rewrites ──► the pull proxy
 *
 * 1. Isolated nodes have copies, since the folders are the cluster's and not a node's to write to.
 * 2. A registries.yaml that is wrong changes nothing; the log says so once.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Clock, Logger } from "#base";
import { writeFileAtomic } from "../../data/data-dir.ts";
import { type CompiledRegistries, CREDENTIALS_FILE, loadRegistries, NOTHING } from "../../registries/index.ts";
import type { Place } from "../isolation/place.ts";
import type { ProcessId } from "../machine/processes.ts";
import { type NamedRegistry, namedRegistries, REGISTRY_HOSTS } from "../site/mirrors.ts";
import type { NodeNames, SiteNames } from "../site/names.ts";

const READ_MS = 2_000;

export interface RegistriesOptions {
  readonly site: SiteNames;
  /** registries.yaml. It need not exist. */
  readonly file: string;
  /** The URL of the pull proxy below which endpoints with rewrites are. */
  readonly rewriteUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ChangedRegistries {
  copy(place: Place): Promise<void>;
}

export class Registries {
  readonly #options: RegistriesOptions;
  /** What each node has, by its name: belongs to one start of the node. */
  readonly #copied = new Map<string, string>();
  #compiled = NOTHING;
  #written: string | undefined;
  #problem = "";
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(options: RegistriesOptions) {
    this.#options = options;
  }

  get compiled(): CompiledRegistries {
    return this.#compiled;
  }

  /** Reads registries.yaml again, from time to time. */
  async refresh(): Promise<void> {
    const { clock, file, rewriteUrl, log } = this.#options;
    if (clock.monotonic() < this.#readMs + READ_MS) return;
    this.#readMs = clock.monotonic();
    try {
      this.#compiled = loadRegistries(file, rewriteUrl) ?? NOTHING;
      this.#problem = "";
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#problem) log.error("registries could not be read; the earlier ones stay", { error });
      this.#problem = message;
    }
    await this.#write();
  }

  /** What the user has named: pulls may go there wherever it is. */
  named(): Promise<NamedRegistry[]> {
    const { site } = this.#options;
    return namedRegistries([site.registryDir, site.compiledRegistryDir, REGISTRY_HOSTS]);
  }

  /** Undefined if the node has all of them. `init`: the first process of an isolated node. */
  async changedFor({ name }: NodeNames, init: ProcessId | undefined): Promise<ChangedRegistries | undefined> {
    const { site } = this.#options;
    const isolated = init !== undefined;
    const own = isolated ? await filesBelow(site.registryDir) : [];
    const compiled = isolated ? [...this.#compiled.files] : [];
    const { credentials } = this.#compiled;
    const content = createHash("sha256")
      .update(JSON.stringify([own, compiled, credentials]))
      .digest("hex");
    const now = `${init?.pid} ${init?.started} ${content}`;
    if (this.#copied.get(name) === now) return undefined;
    return {
      copy: async (place) => {
        const { registryDir, compiledRegistryDir, kubeletRoot } = place.files;
        const parts = isolated
          ? ([
              [registryDir, own],
              [compiledRegistryDir, compiled],
            ] as const)
          : [];
        for (const [folder, files] of parts) {
          await place.run("mkdir", ["-p", "-m", "700", folder]);
          await place.run("find", [folder, "-mindepth", "1", "-delete"]);
          for (const [path, text] of files) await place.write(join(folder, path), text, 0o600);
        }
        await place.write(join(kubeletRoot, CREDENTIALS_FILE), `${JSON.stringify(credentials)}\n`, 0o600);
        this.#copied.set(name, now);
      },
    };
  }

  /** Before the programs of a node start. */
  async copyTo(place: Place, names: NodeNames, init: ProcessId | undefined): Promise<void> {
    await (await this.changedFor(names, init))?.copy(place);
  }

  /** For containerds that share the files of this machine. */
  async #write(): Promise<void> {
    const { compiledRegistryDir: folder } = this.#options.site;
    const { files } = this.#compiled;
    const content = JSON.stringify([...files]);
    if (content === this.#written) return;
    for (const [path] of await filesBelow(folder)) if (!files.has(path)) await rm(join(folder, path));
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      await writeFileAtomic(join(folder, path), text);
    }
    this.#written = content;
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
