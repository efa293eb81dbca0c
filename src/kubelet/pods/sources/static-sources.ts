/**
 * Reads static Pods from a folder (or a file) and from a URL, periodically.
 *
 *     folder ···► manifests ┐
 *     URL    ···► manifest  ┴─► difference ──► onSet, onRemove
 *
 * 1. An invalid manifest is logged; the Pods of its last valid version keep running.
 * 2. Files whose name begins with a dot are ignored.
 */
import { once } from "node:events";
import { watch } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { get as getSecurely } from "node:https";
import { basename, join } from "node:path";
import type { core } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import type { ManifestOrigin } from "./manifest.ts";

export interface StaticSourcesOptions {
  readonly nodeName: string;
  readonly path?: string | undefined;
  readonly url?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onSet: (pod: core.Pod) => void;
  readonly onRemove: (uid: string) => void;
}

const CHECK_MS = 20_000;
const SOON_MS = 200;
const MAX_BYTES = 10 * 1024 * 1024;

export class StaticSources {
  readonly #options: StaticSourcesOptions;
  /** The last valid contents by place. */
  readonly #valid = new Map<string, { readonly text: string; readonly pods: readonly core.Pod[] }>();
  readonly #complaints = new Map<string, string>();
  #known = new Map<string, core.Pod>();

  constructor(options: StaticSourcesOptions) {
    this.#options = options;
  }

  pods(): readonly core.Pod[] {
    return [...this.#known.values()];
  }

  /** Reads everything once. */
  async read(signal: AbortSignal): Promise<void> {
    const { path, url, log } = this.#options;
    const found = new Map<string, { readonly text: string; readonly source: ManifestOrigin["source"] }>();
    try {
      for (const file of path === undefined ? [] : await manifestFiles(path))
        found.set(file, { text: await readFile(file, "utf8"), source: "file" });
      if (url !== undefined) found.set(url, { text: await fetched(url, signal), source: "http" });
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      // Unreadable is not empty: no Pod ends because of it.
      log.warn("static pods could not be read", { error });
      return;
    }
    for (const place of this.#valid.keys()) if (!found.has(place)) this.#valid.delete(place);
    for (const [place, { text, source }] of found) await this.#parse(place, text, source);
    this.#compare();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, path } = this.#options;
    for (;;) {
      await this.read(signal);
      const hurry = new AbortController();
      const watcher = path === undefined ? undefined : watched(path, () => hurry.abort());
      try {
        await clock.sleep(CHECK_MS, AbortSignal.any([signal, hurry.signal]));
      } catch (error) {
        if (signal.aborted) throw error;
        // The file may still be being written.
        await clock.sleep(SOON_MS, signal);
      } finally {
        watcher?.close();
      }
    }
  }

  async #parse(place: string, text: string, source: ManifestOrigin["source"]): Promise<void> {
    const { nodeName, clock, log } = this.#options;
    if (this.#valid.get(place)?.text === text) return;
    // Loaded on demand: most nodes have no static Pods, and validation is a large module.
    const { readManifest } = await import("./manifest.ts");
    const read = readManifest(text, { nodeName, source, place, seenMs: clock.now() });
    if ("pods" in read) {
      this.#valid.set(place, { text, pods: read.pods });
      this.#complaints.delete(place);
    } else if (this.#complaints.get(place) !== read.problem) {
      this.#complaints.set(place, read.problem);
      log.error("invalid manifest of static pods", { place, problem: read.problem });
    }
  }

  #compare(): void {
    const { onSet, onRemove } = this.#options;
    const now = new Map(
      [...this.#valid.values()].flatMap(({ pods }) => pods).map((pod) => [pod.metadata.uid ?? "", pod]),
    );
    const before = this.#known;
    this.#known = now;
    for (const uid of before.keys()) if (!now.has(uid)) onRemove(uid);
    for (const [uid, pod] of now) if (!before.has(uid)) onSet(pod);
  }
}

async function manifestFiles(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
    .map((entry) => join(path, basename(entry.name)))
    .sort();
}

async function fetched(url: string, signal: AbortSignal): Promise<string> {
  const asking = url.startsWith("https:") ? getSecurely(url, { signal }) : get(url, { signal });
  const [response] = (await once(asking, "response", { signal })) as [IncomingMessage];
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`${url} answers with ${response.statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`${url} answers with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) throw new Error(`${url} answers with nothing`);
  return Buffer.concat(chunks).toString();
}

/** Not every file system reports changes: then the next periodic read finds them. */
function watched(path: string, onChange: () => void): { close(): void } | undefined {
  try {
    const watcher = watch(path, onChange);
    watcher.on("error", onChange);
    return watcher;
  } catch {
    return undefined;
  }
}
