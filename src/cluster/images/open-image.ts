/**
 * Opens a user's image as one tar stream for container runtimes: archives of `docker save`, OCI archives, both
 * compressed by gzip or zstd or not, and OCI layout folders.
 */
import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { ClusterError } from "../config/errors.ts";
import { padding, tarEnd, tarHeader } from "./tar.ts";

export interface ImageSource {
  /** Can be read repeatedly: once for each node. */
  read(): AsyncIterable<Uint8Array>;
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const TAR_MAGIC = "ustar";
const MAGIC_AT = 257;

export async function openImage(path: string): Promise<ImageSource> {
  const info = await stat(path).catch((error: Error) => {
    throw new ClusterError(`The image ${path} cannot be read: ${error.message}.`, { cause: error });
  });
  if (info.isDirectory()) return openFolder(path);
  const start = await firstBytes(path);
  if (start.subarray(0, 2).equals(GZIP)) return { read: () => createReadStream(path).pipe(createGunzip()) };
  if (start.subarray(0, 4).equals(ZSTD)) return { read: () => createReadStream(path).pipe(createZstdDecompress()) };
  if (start.toString("latin1", MAGIC_AT, MAGIC_AT + TAR_MAGIC.length) !== TAR_MAGIC) {
    throw new ClusterError(
      `${path} is not an image archive: it must be a tar archive (docker save, OCI), optionally compressed by gzip or zstd, or an OCI layout folder.`,
    );
  }
  return { read: () => createReadStream(path) };
}

async function openFolder(folder: string): Promise<ImageSource> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  if (!paths.includes(join(folder, "oci-layout")) || !paths.includes(join(folder, "index.json"))) {
    throw new ClusterError(`${folder} is not an image: an OCI layout folder contains oci-layout and index.json.`);
  }
  return { read: () => archive(folder, paths.sort()) };
}

async function* archive(folder: string, paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    const { size } = await stat(path);
    yield tarHeader({ path: path.slice(folder.length + 1), type: "file", bytes: size });
    yield* createReadStream(path);
    yield padding(size);
  }
  yield tarEnd();
}

async function firstBytes(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
  return buffer.subarray(0, bytesRead);
}
