/** The finalizers, annotations and labels of snapshots, as upstream's controllers write them. */
import type { KubeObject } from "#api";

const SNAPSHOT = "snapshot.storage.kubernetes.io";
const GROUP = "groupsnapshot.storage.kubernetes.io";

export const finalizers = {
  /** On a claim, while a snapshot is made of it. */
  claimAsSource: `${SNAPSHOT}/pvc-as-source-protection`,
  /** On a snapshot that claims may be restored from. */
  snapshotAsSource: `${SNAPSHOT}/volumesnapshot-as-source-protection`,
  /** On a snapshot whose content has to be deleted before it. */
  snapshotBound: `${SNAPSHOT}/volumesnapshot-bound-protection`,
  /** On a member of a group snapshot. */
  snapshotInGroup: `${SNAPSHOT}/volumesnapshot-in-group-protection`,
  content: `${SNAPSHOT}/volumesnapshotcontent-bound-protection`,
  groupBound: `${GROUP}/volumegroupsnapshot-bound-protection`,
  groupContent: `${GROUP}/volumegroupsnapshotcontent-bound-protection`,
} as const;

export const annotations = {
  defaultClass: `${SNAPSHOT}/is-default-class`,
  defaultGroupClass: `${GROUP}/is-default-class`,
  /** The driver has been asked, and has not yet answered for good. */
  beingCreated: `${SNAPSHOT}/volumesnapshot-being-created`,
  /** The snapshot of this content is deleted. */
  beingDeleted: `${SNAPSHOT}/volumesnapshot-being-deleted`,
  groupBeingCreated: `${GROUP}/volumegroupsnapshot-being-created`,
  groupBeingDeleted: `${GROUP}/volumegroupsnapshot-being-deleted`,
  /** The Secret with which the driver deletes a snapshot. */
  secretName: `${SNAPSHOT}/deletion-secret-name`,
  secretNamespace: `${SNAPSHOT}/deletion-secret-namespace`,
  groupSecretName: `${GROUP}/deletion-secret-name`,
  groupSecretNamespace: `${GROUP}/deletion-secret-namespace`,
  /** The handle of the group, on the content of a member. */
  groupHandle: `${GROUP}/volumeGroupSnapshotHandle`,
} as const;

/**
 * On contents of a driver with a controller on each node: the node that has the snapshot. An annotation, because names
 * of nodes may be longer than values of labels.
 */
const ON_NODE = "snapshot.k8ts.dev/node";
/** The same as a label, from upstream's controller with --enable-distributed-snapshotting. */
const MANAGED_BY = `${SNAPSHOT}/managed-by`;

export function writtenNode({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[ON_NODE] ?? metadata.labels?.[MANAGED_BY];
}

export function nodeMark(node: string | undefined): Readonly<Record<string, string>> {
  return node === undefined ? {} : { [ON_NODE]: node };
}

export function contentNameFor(snapshotUid: string): string {
  return `snapcontent-${snapshotUid}`;
}

export function groupContentNameFor(groupUid: string): string {
  return `groupsnapcontent-${groupUid}`;
}
