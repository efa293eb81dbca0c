/**
 * Extended resources of nodes without a device plugin: simulated ones. Their healthy devices are written into the
 * Node's capacity, as administrators do it by hand; what does not change is not written.
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
    ...[...gone].map((name) => [name, "0"] as const),
    ...resources.map(({ name, ids, unhealthy }) => [name, String(ids.length - unhealthy.size)] as const),
  ]);
  const due = nodes.flatMap(({ metadata: { name = "" }, status }) => {
    const amounts = Object.fromEntries(
      [...wanted].filter(([resource, count]) => (status?.capacity?.[resource] ?? "0") !== count),
    );
    return Object.keys(amounts).length === 0 ? [] : [{ name, amounts }];
  });
  const queue = due.values();
  const writer = async () => {
    for (const { name, amounts } of queue)
      await client
        .of(kinds.Node)
        .subresource(name, "status")
        .patch({ type: "strategic", object: { status: { capacity: amounts, allocatable: amounts } } }, { signal });
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return due.length;
}
