/**
 * Archives of images that every node gets: the user's in `<data dir>/images`, and those that `k8ts image import` has
 * kept for nodes that come later.
 *
 *     images/, nodes/.images/ ···► node: not there, or another file than before ──► import ══► nodes/NODE/images/
 *
 * 1. A node is given its images before its kubelet starts. One that cannot be read is logged, and delays nothing.
 * 2. An archive is imported once into a node, unless it changes or the node has lost its images.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Logger } from "#base";
import type { Runtime } from "#kubelet";
import { writeFileAtomic } from "../../data/data-dir.ts";
import { openImage } from "../../images/index.ts";
import { run } from "../machine/command.ts";
import type { NodeNames, SiteNames } from "../site/names.ts";
import { importImage, openRuntime } from "./containerd.ts";

const LOOK_MS = 2_000;
const NAMES = ".names.json";
const PARTIAL = ".partial";

interface Archive {
  readonly path: string;
  /** Differs when the file does. */
  readonly version: string;
  readonly changedMs: number;
}

interface Imported {
  readonly version: string;
  readonly names: readonly string[];
}

export interface ImageArchivesOptions {
  readonly site: SiteNames;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ImageArchives {
  readonly #options: ImageArchivesOptions;
  /** What each node was given by this process. */
  readonly #given = new Map<string, string>();
  #found: readonly Archive[] = [];
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ImageArchivesOptions) {
    this.#options = options;
  }

  /** Whether a node that runs lacks some of them. */
  async changedFor({ name }: NodeNames): Promise<boolean> {
    return this.#given.get(name) !== versionOf(await this.#archives());
  }

  /** Imports what the node does not have. */
  async giveTo(node: NodeNames, signal?: AbortSignal): Promise<void> {
    this.#lookedMs = Number.NEGATIVE_INFINITY;
    const archives = await this.#archives();
    if (archives.length > 0) {
      const runtime = openRuntime(node, this.#options);
      try {
        for (const archive of archives) {
          signal?.throwIfAborted();
          await this.#give(node, archive, runtime);
        }
      } finally {
        await runtime.close();
      }
    }
    this.#given.set(node.name, versionOf(archives));
  }

  /** The node is gone. */
  forget({ name }: NodeNames): void {
    this.#given.delete(name);
  }

  async #give(node: NodeNames, archive: Archive, runtime: Runtime): Promise<void> {
    const { path, version } = archive;
    const { log } = this.#options;
    const known = await readJson<Imported>(recordFile(node, path));
    if (known?.version === version && (await hasAll(runtime, known.names))) return;
    try {
      const names = await importImage(node, (await openImage(path)).read());
      const kept = await readJson<readonly string[]>(`${path}${NAMES}`);
      for (const gone of names.filter((name) => kept !== undefined && !kept.includes(name)))
        await runtime.images.remove(gone);
      await recordImport(node, path, { version, names: kept ?? names });
      log.info("images were imported", { node: node.name, path, names });
    } catch (error) {
      log.error("images could not be imported", { node: node.name, path, error });
    }
  }

  async #archives(): Promise<readonly Archive[]> {
    const { clock, site } = this.#options;
    if (clock.monotonic() < this.#lookedMs + LOOK_MS) return this.#found;
    this.#lookedMs = clock.monotonic();
    this.#found = [...(await archivesIn(site.importedImagesDir)), ...(await archivesIn(site.imagesDir))];
    return this.#found;
  }
}

/** Keeps a copy for nodes that come later; of two copies with the same images the newer one. Returns its path. */
export async function keepArchive(site: SiteNames, partial: string, names: readonly string[]): Promise<string> {
  const id = createHash("sha256")
    .update([...names].sort().join())
    .digest("hex")
    .slice(0, 16);
  const path = join(site.importedImagesDir, `${id}.tar`);
  await writeFileAtomic(`${path}${NAMES}`, JSON.stringify(names));
  await rename(partial, path);
  return path;
}

/** Where a copy is written before its images are known. */
export async function partialArchive(site: SiteNames, name: string): Promise<string> {
  await mkdir(site.importedImagesDir, { recursive: true, mode: 0o700 });
  return join(site.importedImagesDir, `${name}${PARTIAL}`);
}

/** The node has it: it need not be imported again. */
export async function recordArchive(node: NodeNames, path: string, names: readonly string[]): Promise<void> {
  await recordImport(node, path, { version: fileVersion(await stat(path)), names });
}

/** Nodes that come later do not get this image. */
export async function forgetImage(site: SiteNames, name: string): Promise<void> {
  for (const { path } of await archivesIn(site.importedImagesDir)) {
    const names = (await readJson<readonly string[]>(`${path}${NAMES}`)) ?? [];
    if (!names.includes(name)) continue;
    const left = names.filter((each) => each !== name);
    await writeFileAtomic(`${path}${NAMES}`, JSON.stringify(left));
    if (left.length > 0) continue;
    await rm(path, { force: true });
    await rm(`${path}${NAMES}`, { force: true });
  }
}

/** One image of a node as an archive. */
export async function exportImage(node: Pick<NodeNames, "socket">, name: string, file: string): Promise<void> {
  await run("ctr", ["--address", node.socket, "--namespace", "k8s.io", "images", "export", file, name], {
    as: `image ${name}`,
  });
}

/** The oldest first, so that of two images of the same name the newer one stays. */
async function archivesIn(folder: string): Promise<readonly Archive[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const found: Archive[] = [];
  for (const name of names.filter(
    (each) => !each.startsWith(".") && !each.endsWith(NAMES) && !each.endsWith(PARTIAL),
  )) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined); // gone meanwhile
    if (info !== undefined) found.push({ path, version: fileVersion(info), changedMs: info.mtimeMs });
  }
  return found.sort((a, b) => a.changedMs - b.changedMs || a.path.localeCompare(b.path));
}

function fileVersion({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string {
  return `${size} ${mtimeMs}`;
}

function versionOf(archives: readonly Archive[]): string {
  return JSON.stringify(archives.map(({ path, version }) => [path, version]));
}

function recordFile(node: NodeNames, path: string): string {
  return join(node.dir, "images", `${createHash("sha256").update(path).digest("hex").slice(0, 16)}.json`);
}

async function recordImport(node: NodeNames, path: string, imported: Imported): Promise<void> {
  await mkdir(join(node.dir, "images"), { recursive: true, mode: 0o700 });
  await writeFileAtomic(recordFile(node, path), JSON.stringify(imported));
}

async function hasAll(runtime: Runtime, names: readonly string[]): Promise<boolean> {
  for (const name of names) if ((await runtime.images.status(name)) === undefined) return false;
  return true;
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
