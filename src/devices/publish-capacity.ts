/**
 * Extended resources of nodes without a device plugin: simulated ones. All devices are written into the Node's
 * capacity, the healthy ones are allocatable, as a kubelet does it; what does not change is not written.
 */
import { type core, kinds } from "#api";
import type { Client } from "#client";
import type { SimulatedResource } from "./device-config.ts";

const WRITERS = 16;

/** Returns the number of writes. `gone`: resources that the configuration had before. */
export async function publishCapacity(
  client: Client,
  resources: readonly Pick<SimulatedResource, "name" | "ids" | "unhealthy">[],
  gone: ReadonlySet<string>,
  nodes: readonly core.Node[],
  signal: AbortSignal,
): Promise<number> {
  const wanted = new Map([
    ...[...gone].map((name) => [name, { all: "0", healthy: "0" }] as const),
    ...resources.map(({ name, ids, unhealthy }) => {
      const healthy = String(ids.length - unhealthy.size);
      return [name, { all: String(ids.length), healthy }] as const;
    }),
  ]);
  const due = nodes.flatMap(({ metadata: { name = "" }, status }) => {
    const { capacity = {}, allocatable = {} } = status ?? {};
    const changed = [...wanted].filter(
      ([resource, { all, healthy }]) =>
        (capacity[resource] ?? "0") !== all || (allocatable[resource] ?? "0") !== healthy,
    );
    const amounts = {
      capacity: Object.fromEntries(changed.map(([resource, { all }]) => [resource, all])),
      allocatable: Object.fromEntries(changed.map(([resource, { healthy }]) => [resource, healthy])),
    };
    return changed.length === 0 ? [] : [{ name, amounts }];
  });
  const queue = due.values();
  const writer = async () => {
    for (const { name, amounts } of queue)
      await client
        .of(kinds.Node)
        .subresource(name, "status")
        .patch({ type: "strategic", object: { status: amounts } }, { signal });
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return due.length;
}
