/** The content of a group snapshot that is made of claims. */
import type { Plan } from "#controllers";
import { groupKinds, type VolumeGroupSnapshot, type VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import { annotations, finalizers, groupContentNameFor } from "../objects/names.ts";
import { type Resolved, secretReference } from "../objects/secret-reference.ts";
import { keyOfObject } from "../objects/state.ts";
import { normal, warning } from "../objects/writes.ts";
import type { GroupLookups } from "./lookups.ts";
import { groupFailure } from "./status.ts";
import { groupVolumes } from "./volumes.ts";

const { VolumeGroupSnapshot: Group, VolumeGroupSnapshotContent: Content } = groupKinds;

export function groupCreationPlan(group: VolumeGroupSnapshot, lookups: GroupLookups, now: number): Plan | undefined {
  const key = keyOfObject(group);
  const content = newContent(group, lookups);
  if (!content.ok) {
    const message = `failed to create group snapshot content with error ${content.error}`;
    return groupFailure(group, { reason: "GroupSnapshotContentCreationFailed", message }, now);
  }
  return {
    steps: [[{ verb: "create", resource: Content, object: content.value }]],
    eventFor: (_, outcome) => {
      if (outcome.ok) {
        const words = `Waiting for a group snapshot ${key} to be created by the CSI driver.`;
        return normal(group, "CreatingGroupSnapshot", words);
      }
      const why = outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
      const words = `Error creating volume group snapshot content object for group snapshot ${key}: ${why}.`;
      return warning(group, "CreateGroupSnapshotContentFailed", words);
    },
  };
}

/** It has its finalizer from the start, as the contents of single snapshots. */
function newContent(group: VolumeGroupSnapshot, lookups: GroupLookups): Resolved<VolumeGroupSnapshotContent> {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = group.metadata;
  const input = (error: string) => ({
    ok: false as const,
    error: `failed to get input parameters to create group snapshot ${name}: ${JSON.stringify(error)}`,
  });
  const { volumeGroupSnapshotClassName: className } = group.spec;
  if (className === undefined) return input(`failed to take group snapshot ${name} without a group snapshot class`);
  const found = lookups.class(className);
  if (found === undefined)
    return input(`volumegroupsnapshotclass.groupsnapshot.storage.k8s.io "${className}" not found`);
  const volumes = groupVolumes(group, lookups);
  if (!volumes.ok) return input(volumes.error);
  const contentName = groupContentNameFor(uid);
  const { driver, deletionPolicy, parameters = {} } = found;
  const subject = { kind: "volumegroupsnapshot", contentName, snapshot: { namespace, name } } as const;
  const secret = secretReference("GroupSnapshotter", parameters, subject);
  if (!secret.ok) return input(secret.error);
  const key = keyOfObject(group);
  const volumeHandles: string[] = [];
  for (const { metadata, spec } of volumes.value) {
    if (spec?.csi === undefined)
      return { ok: false, error: `cannot snapshot a non-CSI volume for group snapshot ${key}: ${metadata.name}` };
    if (spec.csi.driver !== driver) {
      const error = `Volume CSI driver (${spec.csi.driver}) mismatch with VolumeGroupSnapshotClass (${driver}) ${key}: ${metadata.name}`;
      return { ok: false, error };
    }
    volumeHandles.push(spec.csi.volumeHandle);
  }
  const { apiVersion, kind } = Group;
  return {
    ok: true,
    value: {
      apiVersion: Content.apiVersion,
      kind: Content.kind,
      metadata: {
        name: contentName,
        finalizers: [finalizers.groupContent],
        ...(secret.value !== undefined && {
          annotations: {
            [annotations.groupSecretName]: secret.value.name,
            [annotations.groupSecretNamespace]: secret.value.namespace,
          },
        }),
      },
      spec: {
        volumeGroupSnapshotRef: { apiVersion, kind, namespace, name, uid, resourceVersion },
        source: { volumeHandles },
        volumeGroupSnapshotClassName: className,
        deletionPolicy,
        driver,
      },
    },
  };
}
