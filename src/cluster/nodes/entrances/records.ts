/**
 * What is published, in two files of the data directory.
 *
 *     publish.json     wanted: written by `k8ts up --publish`, `publish` and `unpublish`, read by the running cluster
 *     published.json   what is open, or why it is not: written by the running cluster
 */
import { readFile, rm } from "node:fs/promises";
import { type DataDir, writeFileAtomic } from "../../data/data-dir.ts";
import { isSamePlace, type Protocol, type Publication } from "./publication.ts";

export type DoorKind = "Ingress" | "LoadBalancer" | "NodePort" | "published";

/** A port of this machine that leads into the cluster. */
export interface OpenDoor {
  readonly kind: DoorKind;
  /** Such as `127.0.0.1:8080`. */
  readonly at: string;
  readonly protocol: Protocol;
  /** Such as `default/web:80`. */
  readonly to: string;
  /** Why nobody listens there. */
  readonly problem?: string | undefined;
}

export async function readWanted({ publish }: DataDir): Promise<readonly Publication[]> {
  return (await readJson<readonly Publication[]>(publish)) ?? [];
}

/** Later ones take the place of earlier ones. Returns all. */
export async function addWanted(dir: DataDir, more: readonly Publication[]): Promise<readonly Publication[]> {
  const kept = (await readWanted(dir)).filter((each) => !more.some((other) => isSamePlace(each, other)));
  const all = [...kept, ...more];
  await writeFileAtomic(dir.publish, `${JSON.stringify(all, undefined, 2)}\n`);
  return all;
}

/** Returns those that were removed. */
export async function removeWanted(
  dir: DataDir,
  isUnwanted: (each: Publication) => boolean,
): Promise<readonly Publication[]> {
  const all = await readWanted(dir);
  const removed = all.filter(isUnwanted);
  if (removed.length > 0) {
    const left = all.filter((each) => !isUnwanted(each));
    await writeFileAtomic(dir.publish, `${JSON.stringify(left, undefined, 2)}\n`);
  }
  return removed;
}

/** Undefined while no cluster publishes anything. */
export async function readDoors({ published }: DataDir): Promise<readonly OpenDoor[] | undefined> {
  return readJson<readonly OpenDoor[]>(published);
}

export async function writeDoors({ published }: DataDir, doors: readonly OpenDoor[]): Promise<void> {
  await writeFileAtomic(published, `${JSON.stringify(doors, undefined, 2)}\n`);
}

export async function forgetDoors({ published }: DataDir): Promise<void> {
  await rm(published, { force: true });
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
