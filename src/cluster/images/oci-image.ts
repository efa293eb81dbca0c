/**
 * An image as an archive in OCI layout, with one layer and one platform, which every container runtime imports.
 *
 *     files ──► layer (tar) ──► config ──► manifest ──► index ──► archive (tar)
 *
 * 1. The same files yield the same bytes, and so the same digests.
 */
import { createHash } from "node:crypto";
import type { Machine } from "./elf.ts";
import { type TarEntry, tar } from "./tar.ts";

export interface ImageSpec {
  /** With its tag. */
  readonly name: string;
  readonly machine: Machine;
  readonly files: readonly TarEntry[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly string[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const OCI = "application/vnd.oci.image";
const ARCHITECTURE: Readonly<Record<Machine, string>> = { x64: "amd64", arm64: "arm64" };

export function imageArchive({ name, machine, files, entrypoint, command, env }: ImageSpec): Buffer {
  const blobs = new Map<string, Uint8Array>();
  const store = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = sha256(bytes);
    blobs.set(digest, bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const storeJson = (mediaType: string, value: object) => store(mediaType, Buffer.from(JSON.stringify(value)));

  const layer = store(`${OCI}.layer.v1.tar`, tar(files));
  const config = storeJson(`${OCI}.config.v1+json`, {
    architecture: ARCHITECTURE[machine],
    os: "linux",
    config: { Env: env, Entrypoint: entrypoint, Cmd: command },
    rootfs: { type: "layers", diff_ids: [layer.digest] },
  });
  const manifest = storeJson(`${OCI}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config,
    layers: [layer],
  });
  const index = {
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [{ ...manifest, annotations: { "io.containerd.image.name": name } }],
  };
  return tar([
    jsonFile("oci-layout", { imageLayoutVersion: "1.0.0" }),
    jsonFile("index.json", index),
    ...[...blobs].map(([digest, content]): TarEntry => ({ path: `blobs/sha256/${digest}`, type: "file", content })),
  ]);
}

function jsonFile(path: string, value: object): TarEntry {
  return { path, type: "file", content: Buffer.from(JSON.stringify(value)) };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
