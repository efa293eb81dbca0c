/**
 * The service accounts of the sidecars, with the permissions that upstream's sidecars have for a driver without
 * secrets: each writes only what it is there for, and one more account reads for all caches.
 */
import { type KubeObject, kinds, type rbac } from "#api";
import type { ResourceOf } from "#client";

export const ACCOUNT_NAMESPACE = "kube-system";
/** Lists and watches what the sidecars work on. */
export const READER_ACCOUNT = "csi-sidecars";

const LABELS = { "k8s-app": "csi-sidecars" };
const READ = ["get", "list", "watch"];
const STORAGE = "storage.k8s.io";

type Rule = readonly [group: string, resources: readonly string[], verbs: readonly string[]];

const EVENTS: Rule = ["events.k8s.io", ["events"], ["create", "patch"]];

interface Account {
  readonly name: string;
  readonly rules: readonly Rule[];
}

const ACCOUNTS: readonly Account[] = [
  {
    name: READER_ACCOUNT,
    rules: [
      ["", ["persistentvolumes", "persistentvolumeclaims", "nodes", "pods"], READ],
      [
        STORAGE,
        ["storageclasses", "csinodes", "volumeattachments", "volumeattributesclasses", "csistoragecapacities"],
        READ,
      ],
      ["coordination.k8s.io", ["leases"], READ],
    ],
  },
  {
    name: "csi-provisioner",
    rules: [
      ["", ["persistentvolumes"], ["get", "create", "patch", "delete"]],
      ["", ["persistentvolumeclaims"], ["get", "patch"]],
      ["snapshot.storage.k8s.io", ["volumesnapshots", "volumesnapshotcontents"], ["get"]],
      [STORAGE, ["csistoragecapacities"], ["create", "update", "delete"]],
      EVENTS,
    ],
  },
  {
    name: "csi-attacher",
    rules: [
      ["", ["persistentvolumes"], ["patch"]],
      [STORAGE, ["volumeattachments", "volumeattachments/status"], ["patch"]],
    ],
  },
  {
    name: "csi-resizer",
    rules: [["", ["persistentvolumes"], ["patch"]], ["", ["persistentvolumeclaims/status"], ["patch"]], EVENTS],
  },
  { name: "csi-health-monitor", rules: [EVENTS] },
];

export interface WantedObject {
  readonly resource: ResourceOf<KubeObject>;
  readonly object: KubeObject;
}

export function sidecarAccounts(): readonly WantedObject[] {
  return ACCOUNTS.flatMap(({ name: account, rules }) => {
    const name = account === READER_ACCOUNT ? "system:csi-sidecars" : `system:${account}`;
    const role: rbac.ClusterRole = {
      metadata: { name, labels: LABELS },
      rules: rules.map(([group, resources, verbs]) => ({ apiGroups: [group], resources, verbs })),
    };
    const binding: rbac.ClusterRoleBinding = {
      metadata: { name, labels: LABELS },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: ACCOUNT_NAMESPACE }],
    };
    return [
      wanted(kinds.ServiceAccount, { metadata: { name: account, namespace: ACCOUNT_NAMESPACE, labels: LABELS } }),
      wanted(kinds.ClusterRole, role),
      wanted(kinds.ClusterRoleBinding, binding),
    ];
  });
}

export function wanted<T extends KubeObject>(resource: ResourceOf<T>, object: T): WantedObject {
  return { resource: resource as unknown as ResourceOf<KubeObject>, object };
}
