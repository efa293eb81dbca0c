/**
 * Records as files: <dir>/<kind>/<id>.json.
 *
 * 1. A file is a draft until it is on the disk; then it is renamed, and the folder is written, too.
 * 2. A record that is already there can be changed on a full disk, too: some room is kept for that. Else no volume
 *    could be taken down, and the disk would stay full.
 * 3. A file that cannot be read stops the driver: without it, its volume would be taken for a leftover and removed.
 */
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFull, NoSpaceError } from "../machine/machine.ts";
import { RECORD_KINDS, type RecordKind, type RecordsByKind } from "../rules/records.ts";
import type { AllRecords, RecordStore } from "./catalog.ts";

const RECORD = /^(.+)\.json$/;
const DRAFT = ".draft";
const RESERVED_BYTES = 256 * 1024;

export async function openDiskStore(dir: string): Promise<RecordStore> {
  const folder = (kind: RecordKind) => join(dir, kind);
  const file = (kind: RecordKind, id: string) => join(folder(kind), `${id}.json`);
  for (const kind of RECORD_KINDS) await mkdir(folder(kind), { recursive: true, mode: 0o700 });
  const load = async <K extends RecordKind>(kind: K): Promise<RecordsByKind[K][]> => {
    const names = await readdir(folder(kind));
    for (const name of names) if (name.endsWith(DRAFT)) await rm(join(folder(kind), name), { force: true });
    const ids = names.map((name) => RECORD.exec(name)?.[1]).filter((id) => id !== undefined);
    return Promise.all(ids.map((id) => readRecord<RecordsByKind[K]>(file(kind, id), id)));
  };
  const reserve = join(dir, "reserve");
  if (!existsSync(reserve)) await keepRoom(reserve);
  return {
    load: async (): Promise<AllRecords> => ({
      volumes: await load("volumes"),
      snapshots: await load("snapshots"),
      groups: await load("groups"),
    }),
    async write(kind, record) {
      const path = file(kind, record.id);
      const text = `${JSON.stringify(record)}\n`;
      try {
        await writeDurably(path, text);
      } catch (error) {
        if (!isFull(error)) throw error;
        if (!existsSync(path) || !existsSync(reserve)) throw new NoSpaceError(messageOf(error), { cause: error });
        await rm(reserve, { force: true });
        await writeDurably(path, text);
      }
      await syncFolder(folder(kind));
    },
    async remove(kind, id) {
      await rm(file(kind, id), { force: true });
      await syncFolder(folder(kind));
    },
  };
}

async function writeDurably(path: string, text: string): Promise<void> {
  try {
    const draft = await open(path + DRAFT, "w", 0o600);
    try {
      await draft.writeFile(text);
      await draft.sync();
    } finally {
      await draft.close();
    }
  } catch (error) {
    await rm(path + DRAFT, { force: true });
    throw error;
  }
  await rename(path + DRAFT, path);
}

/** Blocks that records may take when there are no others. */
async function keepRoom(path: string): Promise<void> {
  await writeFile(path, Buffer.alloc(RESERVED_BYTES, 1), { mode: 0o600 }).catch(async (error: unknown) => {
    await rm(path, { force: true });
    if (!isFull(error)) throw error; // the next start tries again
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Names of files in it survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function readRecord<T extends { readonly id: string }>(path: string, id: string): Promise<T> {
  try {
    const record = JSON.parse(await readFile(path, "utf8")) as T;
    if (record.id !== id) throw new Error(`it is of ${record.id}`);
    return record;
  } catch (error) {
    throw new Error(`${path} is not a record of the driver: ${(error as Error).message}`, { cause: error });
  }
}
