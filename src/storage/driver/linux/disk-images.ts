/**
 * Images as sparse files: <dir>/images/<kind>/<id>.img.
 *
 * 1. A file is a draft of its own name until it is whole and on the disk: a program of a killed driver that still
 *    writes to a draft harms nobody.
 */
import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../catalog/disk-store.ts";
import { type ImageKind, type ImageName, type Images, isFull, NoSpaceError } from "../machine/machine.ts";
import { ProgramError, type RunProgram } from "./command.ts";
import { formatCommand } from "./file-systems.ts";

const KINDS: readonly ImageKind[] = ["volumes", "snapshots"];
const IMAGE = /^(.+)\.img$/;
const DRAFT = ".draft";
const BLOCK = 512;
/** What blkid ends with if it recognizes nothing. */
const NOTHING_FOUND = 2;
/** What e2fsck ends with if it has repaired something. */
const REPAIRED = 1;

export interface DiskImages extends Images {
  pathOf(image: ImageName): string;
  /** The image with this path, as the kernel reports it. */
  imageAt(path: string): ImageName | undefined;
  /** A sparse file that is gone afterwards. */
  withProbe(bytes: number, use: (path: string) => Promise<void>): Promise<void>;
}

/** `newId`: for the names of drafts. */
export async function openDiskImages(dir: string, run: RunProgram, newId: () => string): Promise<DiskImages> {
  const folder = (kind: ImageKind) => join(dir, "images", kind);
  const pathOf = ({ kind, id }: ImageName) => join(folder(kind), `${id}.img`);
  for (const kind of KINDS) await mkdir(folder(kind), { recursive: true, mode: 0o700 });
  const sharesBlocks = await canShareBlocks(join(dir, "images"), newId);

  /** Makes a draft of the image, and puts it in its place. */
  const replace = async (image: ImageName, make: (draft: string) => Promise<void>) => {
    const draft = `${pathOf(image)}.${newId()}${DRAFT}`;
    try {
      await make(draft);
      await syncFile(draft);
      await rename(draft, pathOf(image));
    } catch (error) {
      await rm(draft, { force: true });
      throw spaceError(error);
    }
    await syncFolder(folder(image.kind));
  };

  return {
    sharesBlocks,
    pathOf,
    imageAt: (path) => KINDS.map((kind) => imageIn(folder(kind), kind, path)).find((found) => found !== undefined),
    async withProbe(bytes, use) {
      const path = join(dir, "images", `${newId()}${DRAFT}`);
      try {
        await makeSparse(path, bytes);
        await use(path);
      } finally {
        await rm(path, { force: true });
      }
    },
    async list() {
      const found = await Promise.all(
        KINDS.map(async (kind) => (await readdir(folder(kind))).map((name) => ({ kind, id: IMAGE.exec(name)?.[1] }))),
      );
      return found.flat().flatMap(({ kind, id }) => (id === undefined ? [] : [{ kind, id }]));
    },
    async removeDrafts() {
      for (const kind of KINDS) {
        const drafts = (await readdir(folder(kind))).filter((name) => name.endsWith(DRAFT));
        for (const name of drafts) await rm(join(folder(kind), name), { force: true });
      }
    },
    allocate: (image, bytes) => replace(image, (draft) => makeSparse(draft, bytes)),
    copy: (from, to, bytes, signal) =>
      replace(to, async (draft) => {
        await run("cp", ["--reflink=auto", "--sparse=always", "--", pathOf(from), draft], signal);
        await makeSparse(draft, bytes);
      }),
    format: (image, bytes, fsType, signal) =>
      replace(image, async (draft) => {
        await makeSparse(draft, bytes);
        await run(...formatCommand(fsType, bytes, draft), signal);
      }),
    async fsTypeOf(image) {
      try {
        const type = await run("blkid", ["--probe", "--match-tag", "TYPE", "--output", "value", pathOf(image)]);
        return type.trim() || undefined;
      } catch (error) {
        if (error instanceof ProgramError && error.exitCode === NOTHING_FOUND) return undefined;
        throw error;
      }
    },
    async extend(image, bytes) {
      const { size } = await stat(pathOf(image));
      if (size >= bytes) return;
      await makeSparse(pathOf(image), bytes);
      await syncFile(pathOf(image));
    },
    grow: (image, fsType, bytes, signal) =>
      replace(image, async (draft) => {
        if (!fsType.startsWith("ext")) throw new Error(`${fsType} grows only while it is mounted`);
        await run("cp", ["--reflink=auto", "--sparse=always", "--", pathOf(image), draft], signal);
        await makeSparse(draft, bytes);
        // resize2fs insists on it.
        await run("e2fsck", ["-f", "-p", draft], signal).catch((error: unknown) => {
          if (!(error instanceof ProgramError) || error.exitCode !== REPAIRED) throw error;
        });
        await run("resize2fs", [draft], signal);
      }),
    async remove(image) {
      await rm(pathOf(image), { force: true });
      await syncFolder(folder(image.kind));
    },
    async sizeOf(image) {
      const found = await stat(pathOf(image)).catch(orNothing);
      return found && { bytes: found.size, allocated: found.blocks * BLOCK };
    },
    async freeBytes() {
      const { bavail, bsize } = await statfs(dir);
      return bavail * bsize;
    },
  };
}

/** Also a file that exists. */
async function makeSparse(path: string, bytes: number): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    await file.truncate(bytes);
  } finally {
    await file.close();
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function imageIn(folder: string, kind: ImageKind, path: string): ImageName | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined;
  const id = IMAGE.exec(path.slice(folder.length + 1))?.[1];
  return id === undefined || id.includes("/") ? undefined : { kind, id };
}

async function canShareBlocks(dir: string, newId: () => string): Promise<boolean> {
  const [one, other] = [join(dir, `${newId()}${DRAFT}`), join(dir, `${newId()}${DRAFT}`)];
  try {
    await makeSparse(one, 4096);
    await copyFile(one, other, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false; // the file system has no reflinks
  } finally {
    await Promise.all([rm(one, { force: true }), rm(other, { force: true })]);
  }
}

function spaceError(error: unknown): unknown {
  return error instanceof Error && isFull(error) ? new NoSpaceError(error.message, { cause: error }) : error;
}

function orNothing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
