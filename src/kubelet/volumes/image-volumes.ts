/**
 * Volumes of images: the layers of an image, mounted read-only.
 *
 * 1. An image is mounted once for its Pod, and stays as it is, whatever is pulled later.
 * 2. What is to be released is found in the file system, also after a crash.
 */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Mounter, volumeDirectory, volumesDirectory } from "../host/index.ts";
import type { ImageMounts } from "../runtime/runtime.ts";
import { VolumeError } from "./volume-error.ts";

const PLUGIN = "image";

export interface ImageVolumesOptions {
  readonly root: string;
  readonly mounter: Mounter;
  /** Absent: the runtime has none. */
  readonly images?: ImageMounts | undefined;
}

const keyOf = (uid: string, name: string) => `k8ts-volume-${uid}-${name}`;

/** Returns the path of the volume. */
export async function mountImage(
  { root, mounter, images }: ImageVolumesOptions,
  { uid, name, image }: { readonly uid: string; readonly name: string; readonly image: string },
  signal: AbortSignal,
): Promise<string> {
  if (images === undefined) throw new VolumeError("volumes of images need a runtime that has their layers");
  const path = volumeDirectory(root, uid, PLUGIN, name);
  if ((await mounter.below(path)).includes(path)) return path;
  await mkdir(path, { recursive: true, mode: 0o755 });
  for (const mount of await images.prepare(image, keyOf(uid, name), signal)) await mounter.mount(mount, path);
  return path;
}

/** For a Pod whose volumes have been unmounted. */
export async function releaseImages(
  { root, images }: ImageVolumesOptions,
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  const names = await readdir(join(volumesDirectory(root, uid), `kubernetes.io~${PLUGIN}`)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  for (const name of names) await images?.release(keyOf(uid, name), signal);
}
