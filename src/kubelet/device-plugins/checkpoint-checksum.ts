/**
 * The checksum that kubelets write beside a checkpoint: FNV-1a over the data as Go's printer for hashes shows it. Other
 * kubelets, and tools that look for corrupt files, compute the same one.
 *
 * 1. A value is `(type)contents`; items of lists and maps go without their type, keys of maps are sorted.
 */
import type { CheckpointData } from "./checkpoint.ts";

/** A text of 32 bits. */
export function checksumOf(data: CheckpointData): number {
  return fnv32a(printed(data));
}

function printed({ PodDeviceEntries, RegisteredDevices }: CheckpointData): string {
  const entries = PodDeviceEntries?.map(
    ({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }) =>
      `{PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName} ` +
      `DeviceIDs:(checkpoint.DevicesPerNUMA)${map(DeviceIDs, (a, b) => Number(a) - Number(b))} ` +
      `AllocResp:([]uint8)${AllocResp === null ? NIL : `[${[...Buffer.from(AllocResp, "base64")].join(" ")}]`}}`,
  );
  return (
    `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)${list(entries)} ` +
    `RegisteredDevices:(map[string][]string)${map(RegisteredDevices, (a, b) => (a < b ? -1 : 1))}}`
  );
}

const NIL = "<nil>";

function list(items: readonly string[] | null | undefined): string {
  return items === null || items === undefined ? NIL : `[${items.join(" ")}]`;
}

function map(
  record: Readonly<Record<string, readonly string[] | null>> | null,
  order: (a: string, b: string) => number,
): string {
  if (record === null) return NIL;
  const keys = Object.keys(record).sort(order);
  return `map[${keys.map((key) => `${key}:${list(record[key])}`).join(" ")}]`;
}

function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
