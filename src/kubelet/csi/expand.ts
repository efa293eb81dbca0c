/**
 * The node's part of an expansion: the file system grows into a volume that has become larger.
 *
 *     PersistentVolume larger than the claim's status ──► NodeExpandVolume ══► the claim's capacity
 */
import { type core, type Json, type JsonObject, kinds, parseQuantity, scaledValue } from "#api";
import type { Client } from "#client";
import { NodeRpc } from "#storage/csi";
import type { CsiMountRequest } from "../volumes/index.ts";
import type { NodePlugin } from "./drivers.ts";
import { capabilityOf, type Wanted } from "./requests.ts";

export interface Expansion {
  readonly client: Client;
  readonly plugin: NodePlugin;
  readonly wanted: Wanted;
  readonly request: CsiMountRequest;
  readonly target: string;
  readonly stagingPath: string;
}

export async function expandOnNode(expansion: Expansion, signal: AbortSignal): Promise<void> {
  const { client, plugin, wanted, request, target, stagingPath } = expansion;
  const { claim, persistentVolume } = request;
  const size = persistentVolume?.spec?.capacity?.storage;
  if (claim === undefined || size === undefined || wanted.readOnly) return;
  if (!plugin.can.has(NodeRpc.EXPAND_VOLUME) || !isPending(claim, size)) return;
  await plugin.node.NodeExpandVolume(
    {
      volumeId: wanted.handle,
      volumePath: target,
      capacityRange: { requiredBytes: String(scaledValue(parseQuantity(size), 0)) },
      stagingTargetPath: plugin.can.has(NodeRpc.STAGE_UNSTAGE_VOLUME) ? stagingPath : "",
      volumeCapability: capabilityOf(wanted, plugin.can.has(NodeRpc.SINGLE_NODE_MULTI_WRITER)),
    },
    { signal },
  );
  const { name = "", namespace = "" } = claim.metadata;
  await client
    .of(kinds.PersistentVolumeClaim)
    .in(namespace)
    .subresource(name, "status")
    .patch({ type: "merge", object: { status: expandedStatus(claim, size) } }, { signal });
}

/** Whether the volume is larger than what the claim says, and nobody else is to expand it first. */
export function isPending({ status }: core.PersistentVolumeClaim, size: string): boolean {
  const current = status?.capacity?.storage;
  if (current === undefined) return false;
  return scaledValue(parseQuantity(size), 0) > scaledValue(parseQuantity(current), 0);
}

export function expandedStatus({ status }: core.PersistentVolumeClaim, size: string): JsonObject {
  const done = ["FileSystemResizePending", "Resizing", "ControllerResizeError", "NodeResizeError"];
  return {
    capacity: { ...status?.capacity, storage: size },
    conditions: (status?.conditions ?? []).filter(({ type }) => !done.includes(type)) as unknown as Json[],
    ...(status?.allocatedResourceStatuses !== undefined && { allocatedResourceStatuses: { storage: null } }),
  };
}
