/**
 * The node's part of an expansion: the file system grows into a volume that has become larger.
 *
 *     PersistentVolume larger than the claim ──► NodeResizeInProgress ──► NodeExpandVolume ══► the claim's capacity
 *                                                                    └─► NodeResizeError, NodeResizeInfeasible
 *
 * 1. What the controller is to decide first is left alone: a claim in any other state of its expansion.
 * 2. A driver that grows volumes only while nobody uses them (FAILED_PRECONDITION) does so with the next Pod.
 */
import { type core, type Json, type JsonObject, kinds, parseQuantity, scaledValue } from "#api";
import type { Client, EventRecorder } from "#client";
import { type GrpcCode, isGrpcError } from "#grpc";
import { NodeRpc } from "#storage/csi";
import type { CsiMountRequest } from "../volumes/index.ts";
import type { NodePlugin } from "./drivers.ts";
import { isFinal } from "./final-errors.ts";
import { capabilityOf, type Wanted } from "./requests.ts";

export interface Expansion {
  readonly client: Client;
  readonly nodeName: string;
  /** Default: nobody is told. */
  readonly recorder?: Pick<EventRecorder, "record"> | undefined;
  readonly plugin: NodePlugin;
  readonly wanted: Wanted;
  readonly request: CsiMountRequest;
  readonly target: string;
  readonly stagingPath: string;
}

type Claim = core.PersistentVolumeClaim;

/** Those that the node may go on with. Absent: nobody keeps states. */
const OWN_STATES = ["NodeResizePending", "NodeResizeInProgress"];
/** The same call would fail again. */
const INFEASIBLE: readonly GrpcCode[] = ["INVALID_ARGUMENT", "OUT_OF_RANGE", "NOT_FOUND"];
const CONDITIONS = ["FileSystemResizePending", "Resizing", "ControllerResizeError", "NodeResizeError"];

export async function expandOnNode(expansion: Expansion, signal: AbortSignal): Promise<void> {
  const { plugin, wanted, request, target, stagingPath } = expansion;
  const { claim, persistentVolume } = request;
  const size = persistentVolume?.spec?.capacity?.storage;
  if (claim === undefined || size === undefined || wanted.readOnly) return;
  if (!plugin.can.has(NodeRpc.EXPAND_VOLUME) || !isPending(claim, size)) return;
  const state = stateOf(claim);
  if (state !== undefined && !OWN_STATES.includes(state)) return;
  const name = `for volume "${persistentVolume?.metadata.name}"`;
  try {
    if (state === "NodeResizePending") await patch(expansion, claim, inProgress(), signal);
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
  } catch (error) {
    if (isGrpcError(error, "FAILED_PRECONDITION")) return patch(expansion, claim, pending(state), signal);
    if (isFinal(error)) {
      const message = (error as Error).message;
      const infeasible = state !== undefined && isGrpcError(error, ...INFEASIBLE);
      await patch(expansion, claim, failedStatus(claim, message, infeasible), signal);
      tell(expansion, "Warning", "FileSystemResizeFailed", `MountVolume.NodeExpandVolume failed ${name} : ${message}`);
    }
    throw error;
  }
  await patch(expansion, claim, expandedStatus(claim, size), signal);
  const note = `MountVolume.NodeExpandVolume succeeded ${name} ${expansion.nodeName}`;
  tell(expansion, "Normal", "FileSystemResizeSuccessful", note);
}

/** Whether the volume is larger than what the claim says, and nobody else is to expand it first. */
export function isPending({ status }: Claim, size: string): boolean {
  const current = status?.capacity?.storage;
  if (current === undefined) return false;
  return scaledValue(parseQuantity(size), 0) > scaledValue(parseQuantity(current), 0);
}

export function expandedStatus({ status }: Claim, size: string): JsonObject {
  return {
    capacity: { ...status?.capacity, storage: size },
    conditions: otherConditions(status),
    ...(status?.allocatedResourceStatuses !== undefined && { allocatedResourceStatuses: { storage: null } }),
  };
}

function stateOf({ status }: Claim): string | undefined {
  return status?.allocatedResourceStatuses?.storage;
}

function inProgress(): JsonObject {
  return { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } };
}

/** As it was: the next Pod's node does it. */
function pending(state: string | undefined): JsonObject {
  return state === undefined ? {} : { allocatedResourceStatuses: { storage: "NodeResizePending" } };
}

function failedStatus({ status }: Claim, message: string, isInfeasible: boolean): JsonObject {
  const kept = (status?.conditions ?? []).filter(({ type }) => type !== "NodeResizeError") as unknown as Json[];
  return {
    conditions: [...kept, { type: "NodeResizeError", status: "True", message }],
    ...(isInfeasible && { allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } }),
  };
}

function otherConditions(status: Claim["status"]): Json[] {
  return (status?.conditions ?? []).filter(({ type }) => !CONDITIONS.includes(type)) as unknown as Json[];
}

async function patch(
  { client }: Expansion,
  { metadata }: Claim,
  status: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  if (Object.keys(status).length === 0) return;
  const { name = "", namespace = "" } = metadata;
  const claims = client.of(kinds.PersistentVolumeClaim).in(namespace);
  await claims.subresource(name, "status").patch({ type: "merge", object: { status } }, { signal });
}

function tell({ recorder, request }: Expansion, type: "Normal" | "Warning", reason: string, note: string): void {
  const { pod, claim } = request;
  recorder?.record({ about: { apiVersion: "v1", kind: "Pod", metadata: pod.metadata }, type, reason, note });
  const about = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: claim?.metadata ?? {} };
  recorder?.record({ about, type, reason, note });
}
