/**
 * What to do for a volume that Pods on a node need.
 *
 *     attached                            report it in the node's status
 *     attachment exists                   wait; report the attacher's error, or that it does not answer
 *     attachment is being deleted         wait until it is gone
 *     exclusive, attached to another node wait, and report the conflict once
 *     otherwise                           create the attachment
 *
 * 1. Failures are reported again after a backoff of their own for each volume and node.
 */
import type { RecordedEvent } from "#client";
import type { Pod } from "../pods/index.ts";
import { isAttached, isLeaving, type VolumeAttachment } from "./attachments.ts";
import { attached, attachFailed, multiAttach } from "./messages.ts";
import type { WantedVolume } from "./wanted-volumes.ts";

/** How long an attacher may take until that is reported as a failure. */
const ATTACH_TIMEOUT_MS = 120_000;
const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 122_000;
/** Until an attachment that another node has just asked for is in the cache. */
const RESERVED_MS = 1_000;

/** What is remembered of a volume and a node between two reconciles. A new process begins without it. */
export interface VolumeMemory {
  /** Since when the attacher has been awaited. */
  readonly waitingSinceMs?: number | undefined;
  readonly failures?: number | undefined;
  /** No failure is reported before. */
  readonly quietUntilMs?: number | undefined;
  readonly isAnnounced?: boolean | undefined;
  readonly isConflictReported?: boolean | undefined;
  /** Since when no Pod has needed it. */
  readonly unneededSinceMs?: number | undefined;
}

/** The volume on other nodes. */
export interface Elsewhere {
  readonly attachments: readonly VolumeAttachment[];
  /** Pods that need it there. */
  readonly pods: readonly Pod[];
  /** Another node is about to get it, and the cache does not show that yet. */
  readonly isReserved: boolean;
}

export interface AttachStep {
  readonly action: "report attached" | "create" | "wait";
  readonly events: readonly RecordedEvent[];
  readonly memory: VolumeMemory;
  readonly againAfterMs?: number | undefined;
}

export interface AttachView {
  readonly wanted: WantedVolume;
  readonly attachment: VolumeAttachment | undefined;
  /** The node's status has it. */
  readonly isListed: boolean;
  readonly elsewhere: Elsewhere;
  readonly memory: VolumeMemory;
}

export function planAttach(view: AttachView, now: number): AttachStep {
  const { wanted, attachment, isListed, memory } = view;
  if (attachment === undefined) return begin(view);
  if (isAttached(attachment)) {
    const events = isListed || memory.isAnnounced === true ? [] : attached(wanted);
    return { action: "report attached", events, memory: { isAnnounced: true } };
  }
  const { driver, volumeHandle } = wanted.identity;
  const message = attachment.status?.attachError?.message;
  if (!isLeaving(attachment) && attachment.status?.attachError !== undefined)
    return failure(wanted, message ?? "", { ...memory, waitingSinceMs: undefined }, now, 0);
  const waitingSinceMs = memory.waitingSinceMs ?? now;
  const leftMs = waitingSinceMs + ATTACH_TIMEOUT_MS - now;
  if (leftMs > 0) return { action: "wait", events: [], memory: { ...memory, waitingSinceMs }, againAfterMs: leftMs };
  const why = isLeaving(attachment)
    ? "volume attachment is being deleted"
    : `timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${volumeHandle}`;
  return failure(wanted, why, { ...memory, waitingSinceMs }, now, ATTACH_TIMEOUT_MS);
}

function begin({ wanted, elsewhere, memory }: AttachView): AttachStep {
  const { attachments, pods, isReserved } = elsewhere;
  if (isExclusive(wanted)) {
    if (attachments.some(isAttached)) {
      const events = memory.isConflictReported === true ? [] : multiAttach(wanted, pods);
      return { action: "wait", events, memory: { ...memory, isConflictReported: true } };
    }
    // One that failed does not have the volume; one in progress or in deletion may have it.
    if (attachments.some((each) => isLeaving(each) || each.status?.attachError === undefined))
      return { action: "wait", events: [], memory };
    if (isReserved) return { action: "wait", events: [], memory, againAfterMs: RESERVED_MS };
  }
  const { failures, quietUntilMs } = memory;
  return { action: "create", events: [], memory: { failures, quietUntilMs } };
}

/** `waitMs`: how long the next attempt lasts before it can fail. */
function failure(wanted: WantedVolume, why: string, memory: VolumeMemory, now: number, waitMs: number): AttachStep {
  const { quietUntilMs = now, failures = 0 } = memory;
  if (quietUntilMs > now) return { action: "wait", events: [], memory, againAfterMs: quietUntilMs - now };
  const delayMs = Math.min(INITIAL_BACKOFF_MS * 2 ** Math.min(failures, 30), MAX_BACKOFF_MS) + waitMs;
  const next = { ...memory, failures: failures + 1, quietUntilMs: now + delayMs };
  return { action: "wait", events: attachFailed(wanted, why), memory: next, againAfterMs: delayMs };
}

/** Only volumes with ReadWriteMany or ReadOnlyMany can be attached to several nodes. */
export function isExclusive({ volume }: Pick<WantedVolume, "volume">): boolean {
  const modes = volume.spec?.accessModes ?? [];
  return modes.length > 0 && !modes.some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany");
}
