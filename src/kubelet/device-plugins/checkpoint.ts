/**
 * The file `kubelet_internal_checkpoint`: allocated devices and known resources, for the next kubelet. The format is
 * that of other kubelets, and tools that read it.
 *
 * 1. It is replaced as a whole; writes are one after the other.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AllocationEntry } from "./allocations.ts";
import { checksumOf } from "./checkpoint-checksum.ts";

export interface CheckpointData {
  readonly PodDeviceEntries: readonly CheckpointEntry[] | null;
  /** The healthy devices by resource. */
  readonly RegisteredDevices: Readonly<Record<string, readonly string[] | null>> | null;
}

interface CheckpointEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  readonly DeviceIDs: Readonly<Record<string, readonly string[] | null>> | null;
  /** A plugin's answer in base64. */
  readonly AllocResp: string | null;
}

export interface Checkpoint {
  readonly entries: readonly AllocationEntry[];
  readonly registered: ReadonlyMap<string, readonly string[]>;
}

export const CHECKPOINT_FILE = "kubelet_internal_checkpoint";

export class CheckpointFile {
  readonly #dir: string;
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(dir: string) {
    this.#dir = dir;
    this.#path = join(dir, CHECKPOINT_FILE);
  }

  /** Undefined if there is none. Throws if it cannot be used. */
  async read(): Promise<Checkpoint | undefined> {
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const { Data, Checksum } = JSON.parse(text) as { readonly Data: CheckpointData; readonly Checksum: number };
    if (checksumOf(Data) !== Checksum) throw new Error(`checkpoint is corrupted: ${this.#path}`);
    return {
      entries: (Data.PodDeviceEntries ?? []).map(entryOf),
      registered: new Map(Object.entries(Data.RegisteredDevices ?? {}).map(([name, ids]) => [name, ids ?? []])),
    };
  }

  write(checkpoint: Checkpoint): Promise<void> {
    const data = dataOf(checkpoint);
    const text = JSON.stringify({ Data: data, Checksum: checksumOf(data) });
    const write = async () => {
      await mkdir(this.#dir, { recursive: true, mode: 0o750 });
      await writeFile(`${this.#path}.new`, text, { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}

function entryOf({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: CheckpointEntry): AllocationEntry {
  return {
    podUid: PodUID,
    container: ContainerName,
    resource: ResourceName,
    devices: new Map(Object.entries(DeviceIDs ?? {}).map(([numa, ids]) => [Number(numa), ids ?? []])),
    response: Buffer.from(AllocResp ?? "", "base64"),
  };
}

function dataOf({ entries, registered }: Checkpoint): CheckpointData {
  return {
    PodDeviceEntries: entries.map(({ podUid, container, resource, devices, response }) => ({
      PodUID: podUid,
      ContainerName: container,
      ResourceName: resource,
      DeviceIDs: Object.fromEntries(devices),
      AllocResp: response.toString("base64"),
    })),
    RegisteredDevices: Object.fromEntries(registered),
  };
}
