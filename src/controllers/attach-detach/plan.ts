/**
 * The next writes for a node: what to attach, what to detach, and what its status lists as attached.
 *
 *     create VolumeAttachments ══► (the attacher) ══► status.volumesAttached ──► the kubelet mounts
 *     (the kubelet unmounts)   ──► status.volumesAttached ══► delete VolumeAttachments
 *
 * 1. A volume leaves the node's status before its attachment is deleted: no kubelet mounts it from then on.
 * 2. A volume of which the attachment is being deleted is not listed.
 * 3. Volumes do not wait for each other.
 * 4. What others have listed as attached, other than CSI volumes, stays.
 */
import { type core, equalJson, isStatusError, type Json, type JsonObject, kinds, parseCsiVolumeName } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan, Write } from "../runtime/index.ts";
import { type Elsewhere, planAttach, type VolumeMemory } from "./attach.ts";
import { type Attachment, isAttached, isLeaving, newAttachment } from "./attachments.ts";
import { detachVerdict } from "./detach.ts";
import { attachFailed } from "./messages.ts";
import type { WantedVolume } from "./wanted-volumes.ts";

export interface NodeView {
  readonly name: string;
  /** Undefined if it does not exist any more: then nothing new is attached. */
  readonly node: core.Node | undefined;
  readonly wanted: readonly WantedVolume[];
  readonly attachments: readonly Attachment[];
  /** The names of volumes that the node reports in use; undefined if that is not known: then all are. */
  readonly inUse: readonly string[] | undefined;
  elsewhere(volume: string): Elsewhere;
}

export type NodeMemory = ReadonlyMap<string, VolumeMemory>;

export interface NodePlan {
  readonly plan: Plan;
  readonly memory: NodeMemory;
  /** The volumes of new attachments. */
  readonly attaches: readonly string[];
  /** Something is detached because the node has unmounted it: that is to be confirmed by the API server. */
  readonly trustsNode: boolean;
}

export interface AttachDetachSettings {
  readonly forceDetachOnTimeout: boolean;
}

export function planNode(view: NodeView, before: NodeMemory, now: number, settings: AttachDetachSettings): NodePlan {
  const { node, wanted } = view;
  const attachmentOf = new Map(view.attachments.map(({ volume, object }) => [volume, object]));
  const current = node?.status?.volumesAttached ?? [];
  const memory = new Map<string, VolumeMemory>();
  const events: RecordedEvent[] = [];
  const creates: { readonly wanted: WantedVolume; readonly write: Write }[] = [];
  const deletes: Write[] = [];
  const listed = new Set<string>();
  let againAfterMs = Number.POSITIVE_INFINITY;
  let trustsNode = false;

  for (const each of wanted) {
    const isListed = current.some(({ name }) => name === each.name);
    const attachment = attachmentOf.get(each.name);
    const elsewhere = view.elsewhere(each.name);
    const past = before.get(each.name) ?? {};
    const step = planAttach({ wanted: each, attachment, isListed, elsewhere, memory: past }, now);
    memory.set(each.name, step.memory);
    events.push(...step.events);
    againAfterMs = Math.min(againAfterMs, step.againAfterMs ?? againAfterMs);
    if (step.action === "report attached") listed.add(each.name);
    if (step.action === "create" && node !== undefined) {
      const object = newAttachment(each.volume, each.identity, view.name);
      creates.push({ wanted: each, write: { verb: "create", resource: kinds.VolumeAttachment, object } });
    }
  }

  const needed = new Set(wanted.map(({ name }) => name));
  const isOurs = ({ name }: core.AttachedVolume) => parseCsiVolumeName(name) !== undefined;
  const unneeded = new Set([...attachmentOf.keys(), ...current.filter(isOurs).map(({ name }) => name)]);
  for (const name of unneeded) {
    if (needed.has(name)) continue;
    const attachment = attachmentOf.get(name);
    if (attachment !== undefined && isLeaving(attachment)) continue;
    const { unneededSinceMs = now } = before.get(name) ?? {};
    const isInUse = view.inUse?.includes(name) ?? true;
    const forceOnTimeout = settings.forceDetachOnTimeout;
    const verdict = detachVerdict({ node, isInUse, unneededSinceMs, forceOnTimeout }, now);
    memory.set(name, { unneededSinceMs });
    if (verdict.detach) {
      trustsNode ||= !verdict.isForced;
      if (attachment !== undefined)
        deletes.push({ verb: "delete", resource: kinds.VolumeAttachment, object: attachment });
    } else {
      againAfterMs = Math.min(againAfterMs, verdict.againAfterMs ?? againAfterMs);
      if (attachment === undefined || isAttached(attachment)) listed.add(name);
    }
  }

  const status = node === undefined ? [] : statusWrite(node, listed, isOurs, deletes.length > 0);
  const attempted = new Set<Write>();
  const plan: Plan = {
    steps: [status, deletes, creates.map(({ write }) => write)],
    // A failure of one volume does not keep the others from being attached.
    finally: () => creates.map(({ write }) => write).filter((write) => !attempted.has(write)),
    events,
    eventFor(write, outcome) {
      attempted.add(write);
      const failed = creates.find((each) => each.write === write)?.wanted;
      if (failed === undefined || outcome.ok) return undefined;
      // The cache is behind: the attachment exists.
      if (isStatusError(outcome.error) && outcome.error.reason === "AlreadyExists") return undefined;
      return attachFailed(failed, outcome.error instanceof Error ? outcome.error.message : String(outcome.error));
    },
    ...(againAfterMs < Number.POSITIVE_INFINITY && { againAfterMs }),
  };
  return { plan, memory, attaches: creates.map((each) => each.wanted.name), trustsNode };
}

/** `isUnchanged`: only if the node has not changed since, because something is detached on its word. */
function statusWrite(
  node: core.Node,
  listed: ReadonlySet<string>,
  isOurs: (volume: core.AttachedVolume) => boolean,
  isUnchanged: boolean,
): readonly Write[] {
  const before = node.status?.volumesAttached ?? [];
  const kept = before.filter((volume) => !isOurs(volume) || listed.has(volume.name));
  const known = new Set(kept.map(({ name }) => name));
  const added = [...listed].filter((name) => !known.has(name)).map((name) => ({ name, devicePath: "" }));
  const after = [...kept, ...added];
  if (equalJson(before as unknown as Json, after as unknown as Json)) return [];
  const { resourceVersion } = node.metadata;
  const patch: JsonObject = {
    ...(isUnchanged && resourceVersion !== undefined && { metadata: { resourceVersion } }),
    status: { volumesAttached: after.length === 0 ? null : (after as unknown as Json) },
  };
  return [{ verb: "patch", resource: kinds.Node, object: node, type: "merge", patch, subresource: "status" }];
}
