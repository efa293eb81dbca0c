/**
 * The ResourceSlices of the simulated driver: one pool for each node, with the devices of the configuration.
 *
 * 1. Slices that are as they should be are not written. A change makes a new generation of the pool.
 * 2. They belong to their Node and go with it.
 */
import { type core, equalJson, isStatusError, type Json, kinds, type resource } from "#api";
import type { Client } from "#client";
import type { DeviceConfig } from "./device-config.ts";

/** ResourceSliceMaxDevices. */
const MAX_DEVICES = 128;
const WRITERS = 16;

/** Returns the number of writes. */
export async function publishSlices(
  client: Client,
  { driver, devices }: Pick<DeviceConfig, "driver" | "devices">,
  nodes: readonly core.Node[],
  signal: AbortSignal,
): Promise<number> {
  const slices = client.of(kinds.ResourceSlice);
  const only = nodes.length === 1 ? `,spec.nodeName=${nodes[0]?.metadata.name}` : "";
  const { items } = await slices.list({ fieldSelector: `spec.driver=${driver}${only}`, signal });
  const known = Map.groupBy(items, ({ spec }) => spec.nodeName ?? "");
  const writes: (() => Promise<unknown>)[] = [];
  for (const node of nodes) {
    const { name = "" } = node.metadata;
    const there = known.get(name) ?? [];
    const before = Math.max(0, ...there.map(({ spec }) => Number(spec.pool.generation)));
    const same = slicesOf(node, driver, devices, before);
    if (there.length === same.length && same.every((slice) => there.some((each) => isSame(each, slice)))) continue;
    for (const slice of slicesOf(node, driver, devices, before + 1)) {
      const old = there.find(({ metadata }) => metadata.name === slice.metadata.name);
      writes.push(() =>
        old === undefined
          ? slices.create(slice, { signal })
          : slices.update({ ...old, spec: slice.spec }, { signal }).catch(unlessConflict),
      );
    }
    const names = new Set(same.map(({ metadata }) => metadata.name));
    for (const { metadata } of there)
      if (!names.has(metadata.name)) writes.push(() => slices.delete(metadata.name ?? "", { signal }));
  }
  const queue = writes.values();
  const writer = async () => {
    for (const write of queue) await write();
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return writes.length;
}

function slicesOf(
  { metadata: { name = "", uid = "" } }: core.Node,
  driver: string,
  devices: DeviceConfig["devices"],
  generation: number,
): readonly resource.ResourceSlice[] {
  const count = Math.ceil(devices.length / MAX_DEVICES);
  return Array.from({ length: count }, (_, i) => ({
    metadata: {
      name: `${name}-${driver}-${i}`,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid, controller: true }],
    },
    spec: {
      driver,
      nodeName: name,
      pool: { name, generation, resourceSliceCount: count },
      devices: devices.slice(i * MAX_DEVICES, (i + 1) * MAX_DEVICES).map(({ device }) => device),
    },
  }));
}

function isSame(there: resource.ResourceSlice, slice: resource.ResourceSlice): boolean {
  return there.metadata.name === slice.metadata.name && equalJson(asJson(there.spec), asJson(slice.spec));
}

function asJson(value: unknown): Json {
  return value as Json;
}

/** The next round sees what another has written. */
function unlessConflict(error: unknown): undefined {
  if (isStatusError(error, "Conflict")) return undefined;
  throw error;
}
