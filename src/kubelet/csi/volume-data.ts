/**
 * What is known of a volume beside its mount, in `vol_data.json`: enough to take it down, also for the next kubelet.
 * The names of its fields are upstream's.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface VolumeData {
  readonly specVolID: string;
  readonly volumeHandle: string;
  readonly driverName: string;
  readonly nodeName: string;
  /** Empty: it is not attached. */
  readonly attachmentID: string;
  readonly volumeLifecycleMode: "Persistent" | "Ephemeral";
  /** With which it is mounted. */
  readonly seLinuxMountContext?: string | undefined;
}

const FILE = "vol_data.json";

export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const draft = join(directory, `.${FILE}`);
  await writeFile(draft, JSON.stringify(data), { mode: 0o600 });
  await rename(draft, join(directory, FILE));
}

/** Undefined if there is none, or it was cut off by a crash: the volume was not mounted yet. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const text = await readFile(join(directory, FILE), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
    throw error;
  });
  try {
    return JSON.parse(text) as VolumeData;
  } catch {
    return undefined;
  }
}
