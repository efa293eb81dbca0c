/**
 * The accounts of the snapshot controller and the csi-snapshotter, with the roles that upstream's installation gives
 * them. The snapshotter also reads volumes, to find the node of a node-local one; it may not read Secrets.
 */
import { type KubeObject, kinds, type rbac } from "#api";
import type { ResourceOf } from "#client";
import { GROUP_SNAPSHOT_GROUP } from "../objects/group-kinds.ts";
import { SNAPSHOT_GROUP } from "../objects/kinds.ts";

export const NAMESPACE = "kube-system";
export const CONTROLLER_ACCOUNT = "snapshot-controller";
export const SNAPSHOTTER_ACCOUNT = "csi-snapshotter";

export interface WantedObject {
  readonly resource: ResourceOf<KubeObject>;
  readonly object: KubeObject;
}

const READ = ["get", "list", "watch"];
const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]): rbac.PolicyRule => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});
const events = rule("events.k8s.io", ["events"], ["create", "patch", "update"]);

const controllerRules: readonly rbac.PolicyRule[] = [
  rule("", ["persistentvolumes"], READ),
  rule("", ["persistentvolumeclaims"], [...READ, "update"]),
  events,
  rule(SNAPSHOT_GROUP, ["volumesnapshotclasses"], READ),
  rule(SNAPSHOT_GROUP, ["volumesnapshotcontents"], ["create", ...READ, "update", "delete", "patch"]),
  rule(SNAPSHOT_GROUP, ["volumesnapshotcontents/status"], ["patch"]),
  rule(SNAPSHOT_GROUP, ["volumesnapshots"], ["create", ...READ, "update", "patch", "delete"]),
  rule(SNAPSHOT_GROUP, ["volumesnapshots/status"], ["update", "patch"]),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshotclasses"], READ),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshotcontents"], ["create", ...READ, "update", "delete", "patch"]),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshotcontents/status"], ["patch"]),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshots"], [...READ, "update", "patch"]),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshots/status"], ["update", "patch"]),
];

const snapshotterRules: readonly rbac.PolicyRule[] = [
  rule("", ["persistentvolumes"], READ),
  events,
  rule(SNAPSHOT_GROUP, ["volumesnapshotclasses"], READ),
  rule(SNAPSHOT_GROUP, ["volumesnapshotcontents"], [...READ, "update", "patch"]),
  rule(SNAPSHOT_GROUP, ["volumesnapshotcontents/status"], ["update", "patch"]),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshotclasses"], READ),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshotcontents"], [...READ, "update", "patch"]),
  rule(GROUP_SNAPSHOT_GROUP, ["volumegroupsnapshotcontents/status"], ["update", "patch"]),
];

/** Leases are read in all namespaces, to see another installation; written in one. */
const seeLeases = rule("coordination.k8s.io", ["leases"], ["list", "watch"]);
const ownLeases = rule("coordination.k8s.io", ["leases"], [...READ, "delete", "update", "patch", "create"]);

export function snapshotRoles(): readonly WantedObject[] {
  return [
    ...account(CONTROLLER_ACCOUNT, "snapshot-controller", "snapshot-controller-role", controllerRules),
    ...account(SNAPSHOTTER_ACCOUNT, "external-snapshotter", "csi-snapshotter-role", snapshotterRules),
  ];
}

/** `prefix`: of the names of the roles. */
function account(
  name: string,
  prefix: string,
  binding: string,
  rules: readonly rbac.PolicyRule[],
): readonly WantedObject[] {
  const apiGroup = "rbac.authorization.k8s.io";
  const subjects = [{ kind: "ServiceAccount", name, namespace: NAMESPACE }];
  const [runner, elector] = [`${prefix}-runner`, `${prefix}-leaderelection`];
  const electing = { name: elector, namespace: NAMESPACE };
  return [
    wanted(kinds.ServiceAccount, { metadata: { name, namespace: NAMESPACE } }),
    wanted(kinds.ClusterRole, { metadata: { name: runner }, rules: [...rules, seeLeases] }),
    wanted(kinds.ClusterRoleBinding, {
      metadata: { name: binding },
      roleRef: { apiGroup, kind: "ClusterRole", name: runner },
      subjects,
    }),
    wanted(kinds.Role, { metadata: electing, rules: [ownLeases] }),
    wanted(kinds.RoleBinding, { metadata: electing, roleRef: { apiGroup, kind: "Role", name: elector }, subjects }),
  ];
}

function wanted<T extends KubeObject>(resource: ResourceOf<T>, object: T): WantedObject {
  return { resource: resource as unknown as ResourceOf<KubeObject>, object };
}
