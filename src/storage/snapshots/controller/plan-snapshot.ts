/**
 * What a VolumeSnapshot needs next: its class, its finalizers, its content, its status.
 *
 *     class ──► finalizers ──► content (made, or bound) ──► status as the content's ──► ready
 *     deleted ──► delete-snapshot.ts
 *
 * 1. A snapshot and its content are bound only if each refers to the other.
 * 2. A snapshot that was made once and has lost its content is not made again: it would show another point in time.
 */
import type { Plan } from "#controllers";
import { snapshotKinds, type VolumeSnapshot, type VolumeSnapshotContent } from "../objects/kinds.ts";
import { contentNameFor, finalizers } from "../objects/names.ts";
import {
  contentNameOf,
  has,
  isDeleted,
  isGroupMember,
  isReady,
  keyOfObject,
  mayReferTo,
  refersTo,
} from "../objects/state.ts";
import { changedFinalizers, merged, oneStep } from "../objects/writes.ts";
import { releaseClaim } from "./claims.ts";
import { classPlan } from "./default-class.ts";
import { deletionPlan } from "./delete-snapshot.ts";
import type { SnapshotLookups } from "./lookups.ts";
import { creationPlan } from "./new-content.ts";
import { ownershipPlan } from "./ownership.ts";
import { failure, type SnapshotFailure, statusPlan } from "./status.ts";

const { VolumeSnapshot: Snapshot, VolumeSnapshotContent: Content } = snapshotKinds;

const MISSING: SnapshotFailure = { reason: "SnapshotContentMissing", message: "VolumeSnapshotContent is missing" };

/** Undefined: nothing, until something that the snapshot depends on changes. */
export function planSnapshot(snapshot: VolumeSnapshot, lookups: SnapshotLookups, now: number): Plan | undefined {
  const release = releaseClaim(snapshot, lookups);
  if (release !== undefined) return oneStep(release);
  if (isDeleted(snapshot)) return deletionPlan(snapshot, lookups);
  const fail = (failed: SnapshotFailure) => failure(snapshot, failed, now);
  const { persistentVolumeClaimName: claim, volumeSnapshotContentName: given } = snapshot.spec.source;
  if ((claim === undefined) === (given === undefined)) {
    const message = "Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified";
    return fail({ reason: "SnapshotValidationError", message });
  }
  const chosen = classPlan(snapshot, lookups, now);
  if (chosen !== "done") return chosen;
  const found = given === undefined ? madeContent(snapshot, lookups) : givenContent(snapshot, given, lookups);
  if ("reason" in found) return fail(found);
  const { content } = found;
  const missing = [
    ...(has(snapshot, finalizers.snapshotAsSource) ? [] : [finalizers.snapshotAsSource]),
    ...(needsBound(snapshot, content) ? [finalizers.snapshotBound] : []),
  ];
  if (missing.length > 0) return oneStep(changedFinalizers(Snapshot, snapshot, { add: missing }));
  if (isReady(snapshot) && (snapshot.status?.boundVolumeSnapshotContentName ?? "") !== "")
    return readyPlan(snapshot, lookups, fail);
  if (content === undefined) {
    if (given !== undefined || snapshot.status?.creationTime !== undefined) return fail(MISSING);
    return isGroupMember(snapshot) ? undefined : creationPlan(snapshot, lookups, now);
  }
  if (given !== undefined) {
    const binding = bindingPlan(snapshot, content);
    if (binding !== undefined) return binding;
  } else if (content.spec.source.snapshotHandle !== undefined) {
    const words = `Snapshot handle should not be set in content ${keyOfObject(snapshot)} for dynamic provisioning`;
    return fail({ reason: "SnapshotHandleSet", message: words });
  }
  return showContent(snapshot, content, lookups);
}

function showContent(
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent,
  lookups: SnapshotLookups,
): Plan | undefined {
  const handle = content.status?.volumeGroupSnapshotHandle;
  const groupName = handle === undefined ? undefined : lookups.groupNameOf(handle);
  // The content of the group is about to be seen.
  if (handle !== undefined && groupName === undefined) return undefined;
  return statusPlan(snapshot, content, groupName);
}

/** A ready snapshot is checked, and else left alone. */
function readyPlan(
  snapshot: VolumeSnapshot,
  lookups: SnapshotLookups,
  fail: (failed: SnapshotFailure) => Plan | undefined,
): Plan | undefined {
  const content = lookups.content(contentNameOf(snapshot));
  if (content === undefined) return fail(MISSING);
  if (!refersTo(content.spec.volumeSnapshotRef, snapshot)) {
    const message = "VolumeSnapshotContent is not bound to the VolumeSnapshot correctly";
    return fail({ reason: "SnapshotMisbound", message });
  }
  return ownershipPlan(snapshot, lookups);
}

type Found = { readonly content: VolumeSnapshotContent | undefined } | SnapshotFailure;

/** An existing content that the snapshot names. */
function givenContent(snapshot: VolumeSnapshot, name: string, lookups: SnapshotLookups): Found {
  const content = lookups.content(name);
  if (content === undefined) return { content };
  if (content.spec.source.snapshotHandle === undefined) {
    const message = "VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one";
    return { reason: "SnapshotContentMismatch", message };
  }
  return mayReferTo(content.spec.volumeSnapshotRef, snapshot) ? { content } : misbound(name);
}

/** The content that is or was made for the snapshot. */
function madeContent(snapshot: VolumeSnapshot, lookups: SnapshotLookups): Found {
  const name = isGroupMember(snapshot) ? contentNameOf(snapshot) : contentNameFor(snapshot.metadata.uid ?? "");
  const content = lookups.content(name);
  if (content === undefined) return { content };
  if (content.spec.source.volumeHandle === undefined) {
    const message = `VolumeSnapshotContent ${name} is pre-provisioned while expecting a dynamically provisioned one`;
    return { reason: "SnapshotContentMismatch", message };
  }
  return refersTo(content.spec.volumeSnapshotRef, snapshot) ? { content } : misbound(name);
}

function misbound(name: string): SnapshotFailure {
  const message = `VolumeSnapshotContent [${name}] is bound to a different snapshot`;
  return { reason: "SnapshotContentMisbound", message };
}

function needsBound(snapshot: VolumeSnapshot, content: VolumeSnapshotContent | undefined): boolean {
  const isBound = (snapshot.status?.boundVolumeSnapshotContentName ?? "") !== "";
  return isBound && content?.spec.deletionPolicy === "Delete" && !has(snapshot, finalizers.snapshotBound);
}

/** Binds a content that is reserved for the snapshot; undefined if it is bound. */
function bindingPlan(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): Plan | undefined {
  const { volumeSnapshotRef: ref, volumeSnapshotClassName: bound } = content.spec;
  const { volumeSnapshotClassName: wanted } = snapshot.spec;
  const isBound = (ref.uid ?? "") !== "";
  if (isBound && (bound !== undefined || wanted === undefined)) return undefined;
  const { uid = "" } = snapshot.metadata;
  const { resourceVersion } = content.metadata;
  const spec = { volumeSnapshotRef: { ...ref, uid }, ...(wanted !== undefined && { volumeSnapshotClassName: wanted }) };
  // Two snapshots may reach for one content: the revision decides.
  return oneStep(merged(Content, content, { metadata: { ...(resourceVersion && { resourceVersion }) }, spec }));
}
