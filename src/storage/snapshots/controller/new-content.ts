/** The content of a snapshot that is made of a claim. */
import type { Plan } from "#controllers";
import {
  snapshotKinds,
  type VolumeSnapshot,
  type VolumeSnapshotClass,
  type VolumeSnapshotContent,
} from "../objects/kinds.ts";
import { annotations, contentNameFor, finalizers } from "../objects/names.ts";
import { type Resolved, secretReference } from "../objects/secret-reference.ts";
import { keyOfObject } from "../objects/state.ts";
import { normal, oneStep, warning } from "../objects/writes.ts";
import { claimOf, keepClaim, volumeOf } from "./claims.ts";
import type { SnapshotLookups } from "./lookups.ts";
import { failure } from "./status.ts";

const { VolumeSnapshot: Snapshot, VolumeSnapshotContent: Content } = snapshotKinds;

/** The claim is kept first, then the content is created. */
export function creationPlan(snapshot: VolumeSnapshot, lookups: SnapshotLookups, now: number): Plan | undefined {
  const kept = keepClaim(snapshot, lookups);
  if (!kept.ok) return contentFailure(snapshot, kept.error, now);
  if (kept.value !== undefined) return oneStep(kept.value);
  const content = newContent(snapshot, lookups);
  if (!content.ok) return contentFailure(snapshot, content.error, now);
  const key = keyOfObject(snapshot);
  return {
    steps: [[{ verb: "create", resource: Content, object: content.value }]],
    eventFor: (_, outcome) => {
      if (outcome.ok)
        return normal(snapshot, "CreatingSnapshot", `Waiting for a snapshot ${key} to be created by the CSI driver.`);
      const words = `Error creating volume snapshot content object for snapshot ${key}: ${messageOf(outcome.error)}.`;
      return warning(snapshot, "CreateSnapshotContentFailed", words);
    },
    finally: (failures) => {
      const [first] = failures;
      if (first === undefined) return [];
      const words = `snapshot controller failed to update ${key} on API server: ${messageOf(first.error)}`;
      return contentFailure(snapshot, words, now)?.steps?.[0] ?? [];
    },
  };
}

function contentFailure(snapshot: VolumeSnapshot, error: string, now: number): Plan | undefined {
  const message = `Failed to create snapshot content with error ${error}`;
  return failure(snapshot, { reason: "SnapshotContentCreationFailed", message }, now);
}

/**
 * It has its finalizer from the start: a content that is deleted before the controller has seen it would leave a
 * snapshot on the storage system otherwise.
 */
function newContent(snapshot: VolumeSnapshot, lookups: SnapshotLookups): Resolved<VolumeSnapshotContent> {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = snapshot.metadata;
  const input = (error: string) => ({
    ok: false as const,
    error: `failed to get input parameters to create snapshot ${name}: ${JSON.stringify(error)}`,
  });
  const found = classOf(snapshot, lookups);
  if (!found.ok) return input(found.error);
  const claim = claimOf(snapshot, lookups);
  if (!claim.ok) return input(claim.error);
  const volume = volumeOf(claim.value, lookups);
  if (!volume.ok) return input(volume.error);
  const contentName = contentNameFor(uid);
  const { driver, deletionPolicy, parameters = {}, metadata } = found.value;
  const subject = { kind: "volumesnapshot", contentName, snapshot: { namespace, name } } as const;
  const secret = secretReference("Snapshotter", parameters, subject);
  if (!secret.ok) return input(secret.error);
  const { csi, volumeMode } = volume.value.spec ?? {};
  if (csi === undefined) {
    const error = `cannot find CSI PersistentVolumeSource for volume ${volume.value.metadata.name}`;
    return { ok: false, error };
  }
  const { apiVersion, kind } = Snapshot;
  return {
    ok: true,
    value: {
      apiVersion: Content.apiVersion,
      kind: Content.kind,
      metadata: {
        name: contentName,
        finalizers: [finalizers.content],
        ...(secret.value !== undefined && {
          annotations: {
            [annotations.secretName]: secret.value.name,
            [annotations.secretNamespace]: secret.value.namespace,
          },
        }),
      },
      spec: {
        volumeSnapshotRef: { apiVersion, kind, namespace, name, uid, resourceVersion },
        source: { volumeHandle: csi.volumeHandle },
        volumeSnapshotClassName: metadata.name ?? "",
        deletionPolicy,
        driver,
        ...(volumeMode !== undefined && { sourceVolumeMode: volumeMode }),
      },
    },
  };
}

function classOf(
  { metadata, spec }: VolumeSnapshot,
  lookups: Pick<SnapshotLookups, "class">,
): Resolved<VolumeSnapshotClass> {
  const { volumeSnapshotClassName: name } = spec;
  if (name === undefined)
    return { ok: false, error: `failed to take snapshot ${metadata.name} without a snapshot class` };
  const value = lookups.class(name);
  if (value !== undefined) return { ok: true, value };
  return { ok: false, error: `volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found` };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
