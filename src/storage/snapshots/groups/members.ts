/**
 * The members of a group snapshot that was made of claims: a VolumeSnapshot and a VolumeSnapshotContent for each
 * snapshot that the driver reported.
 *
 *     contents ══► snapshots ══► each refers to the other ══► the contents show what the driver reported
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "#api";
import type { Plan, Write } from "#controllers";
import { ownerReference } from "../controller/ownership.ts";
import type {
  VolumeGroupSnapshot,
  VolumeGroupSnapshotClass,
  VolumeGroupSnapshotContent,
  VolumeSnapshotInfo,
} from "../objects/group-kinds.ts";
import { snapshotKinds, type VolumeSnapshot, type VolumeSnapshotContent } from "../objects/kinds.ts";
import { annotations, finalizers, nodeMark, writtenNode } from "../objects/names.ts";
import { type SecretReference, secretReference } from "../objects/secret-reference.ts";
import { merged } from "../objects/writes.ts";
import type { GroupLookups } from "./lookups.ts";

const { VolumeSnapshot: Snapshot, VolumeSnapshotContent: Content } = snapshotKinds;

/** Undefined: all members are there, or the driver has not reported them yet. */
export function membersPlan(
  group: VolumeGroupSnapshot,
  content: VolumeGroupSnapshotContent,
  lookups: GroupLookups,
): Plan | undefined {
  const { volumeGroupSnapshotHandle: handle, volumeSnapshotInfoList: infos = [] } = content.status ?? {};
  if (handle === undefined) return undefined;
  const secret = secretOf(group, content, lookups);
  const steps = infos.map((info) => memberSteps({ group, content, info, handle, secret, lookups }));
  // The members advance together, a step at a time: the next one needs what the caches show of this one.
  for (const at of [0, 1, 2, 3]) {
    const writes = steps.flatMap((each) => each[at] ?? []);
    if (writes.length > 0) return { steps: [writes] };
  }
  return undefined;
}

interface Member {
  readonly group: VolumeGroupSnapshot;
  readonly content: VolumeGroupSnapshotContent;
  readonly info: VolumeSnapshotInfo;
  readonly handle: string;
  readonly secret: SecretReference | undefined;
  readonly lookups: GroupLookups;
}

function memberSteps(member: Member): readonly (readonly Write[])[] {
  const { group, info, handle, lookups } = member;
  const { volumeHandle = "" } = info;
  const digest = createHash("sha256").update(`${group.metadata.uid}${volumeHandle}`).digest("hex");
  const { namespace = "" } = group.metadata;
  const [name, contentName] = [`snapshot-${digest}`, `snapcontent-${digest}`];
  const snapshot = lookups.member(`${namespace}/${name}`);
  const content = lookups.memberContent(contentName);
  if (content === undefined) return [[create(Content, newMemberContent(member, name, contentName))]];
  if (snapshot === undefined) return [[create(Snapshot, newMember(member, name))]];
  return [[], reserving(snapshot, content), binding(snapshot, content), reporting(content, info, handle)];
}

function create(resource: typeof Snapshot | typeof Content, object: VolumeSnapshot | VolumeSnapshotContent): Write {
  return { verb: "create", resource, object };
}

/** The content refers to the snapshot, as if that had been made on its own. */
function reserving(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): readonly Write[] {
  const { volumeSnapshotRef: ref } = content.spec;
  if ((ref.uid ?? "") !== "") return [];
  return [merged(Content, content, { spec: { volumeSnapshotRef: { ...ref, uid: snapshot.metadata.uid ?? "" } } })];
}

function binding(snapshot: VolumeSnapshot, { metadata }: VolumeSnapshotContent): readonly Write[] {
  if (snapshot.status?.boundVolumeSnapshotContentName !== undefined) return [];
  return [statusOf(Snapshot, snapshot, { boundVolumeSnapshotContentName: metadata.name ?? "" })];
}

function reporting(content: VolumeSnapshotContent, info: VolumeSnapshotInfo, handle: string): readonly Write[] {
  if (content.status?.volumeGroupSnapshotHandle !== undefined) return [];
  const { snapshotHandle, creationTime, restoreSize, readyToUse } = info;
  const status = {
    volumeGroupSnapshotHandle: handle,
    ...(snapshotHandle !== undefined && { snapshotHandle }),
    ...(creationTime !== undefined && { creationTime }),
    ...(restoreSize !== undefined && { restoreSize }),
    ...(readyToUse !== undefined && { readyToUse }),
  };
  return [statusOf(Content, content, status)];
}

function statusOf(
  resource: typeof Snapshot | typeof Content,
  object: VolumeSnapshot | VolumeSnapshotContent,
  status: object,
): Write {
  const patch: JsonObject = { status: status as JsonObject };
  return { verb: "patch", type: "merge", subresource: "status", resource, object, patch };
}

function newMemberContent(member: Member, name: string, contentName: string): VolumeSnapshotContent {
  const { group, content, info, handle, secret, lookups } = member;
  const { driver, deletionPolicy } = content.spec;
  const { volumeHandle = "" } = info;
  const volumeMode = lookups.volumeByHandle(driver, volumeHandle)?.spec?.volumeMode;
  return {
    apiVersion: Content.apiVersion,
    kind: Content.kind,
    metadata: {
      name: contentName,
      finalizers: [finalizers.content],
      annotations: {
        [annotations.groupHandle]: handle,
        ...nodeMark(writtenNode(content)),
        ...(secret !== undefined && {
          [annotations.secretName]: secret.name,
          [annotations.secretNamespace]: secret.namespace,
        }),
      },
    },
    spec: {
      volumeSnapshotRef: { kind: Snapshot.kind, name, namespace: group.metadata.namespace ?? "" },
      deletionPolicy,
      driver,
      source: { volumeHandle },
      ...(volumeMode !== undefined && { sourceVolumeMode: volumeMode }),
    },
  };
}

/** Its claim may be gone: then the source is a claim without a name. */
function newMember({ group, content, info, lookups }: Member, name: string): VolumeSnapshot {
  const claim = lookups.volumeByHandle(content.spec.driver, info.volumeHandle ?? "")?.spec?.claimRef?.name ?? "";
  return {
    apiVersion: Snapshot.apiVersion,
    kind: Snapshot.kind,
    metadata: {
      name,
      namespace: group.metadata.namespace ?? "",
      ownerReferences: [ownerReference(group)],
      finalizers: [finalizers.snapshotInGroup],
    },
    spec: { source: { persistentVolumeClaimName: claim } },
  };
}

function secretOf(
  { spec }: VolumeGroupSnapshot,
  { metadata }: VolumeGroupSnapshotContent,
  lookups: GroupLookups,
): SecretReference | undefined {
  const found: VolumeGroupSnapshotClass | undefined = lookups.class(spec.volumeGroupSnapshotClassName ?? "");
  const subject = { kind: "volumegroupsnapshot", contentName: metadata.name ?? "" } as const;
  const secret = secretReference("GroupSnapshotter", found?.parameters ?? {}, subject);
  return secret.ok ? secret.value : undefined;
}
