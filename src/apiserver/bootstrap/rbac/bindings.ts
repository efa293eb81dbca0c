/**
 * Bindings as text: binding, role, subjects. A subject is a `group:`, a `user:` or an `account:` (a ServiceAccount in
 * kube-system). A binding without subjects exists for administrators to fill in.
 */
import type { rbac } from "#api";
import type { RoleData } from "./role-text.ts";

const API_GROUP = "rbac.authorization.k8s.io";

const CLUSTER_BINDINGS = `
cluster-admin cluster-admin group:system:masters
system:basic-user system:basic-user group:system:authenticated
system:discovery system:discovery group:system:authenticated
system:kube-controller-manager system:kube-controller-manager user:system:kube-controller-manager
system:kube-dns system:kube-dns account:kube-dns
system:kube-scheduler system:kube-scheduler user:system:kube-scheduler
system:monitoring system:monitoring group:system:monitoring
system:node system:node
system:node-proxier system:node-proxier user:system:kube-proxy
system:public-info-viewer system:public-info-viewer group:system:authenticated group:system:unauthenticated
system:service-account-issuer-discovery system:service-account-issuer-discovery group:system:serviceaccounts
system:volume-scheduler system:volume-scheduler user:system:kube-scheduler
`;

const BINDINGS = `
kube-public system:controller:bootstrap-signer system:controller:bootstrap-signer account:bootstrap-signer
kube-system system::extension-apiserver-authentication-reader extension-apiserver-authentication-reader user:system:kube-controller-manager user:system:kube-scheduler
kube-system system::leader-locking-kube-controller-manager system::leader-locking-kube-controller-manager user:system:kube-controller-manager account:kube-controller-manager account:leader-election-controller
kube-system system::leader-locking-kube-scheduler system::leader-locking-kube-scheduler user:system:kube-scheduler account:kube-scheduler
kube-system system:controller:bootstrap-signer system:controller:bootstrap-signer account:bootstrap-signer
kube-system system:controller:cloud-provider system:controller:cloud-provider account:cloud-provider
kube-system system:controller:token-cleaner system:controller:token-cleaner account:token-cleaner
`;

export interface BindingData {
  readonly namespace?: string;
  readonly name: string;
  readonly roleRef: rbac.RoleRef;
  readonly subjects: readonly rbac.Subject[];
}

/** Controllers' roles are bound to the ServiceAccount of their name. `groups`: further roles, each with its group. */
export function clusterBindings(
  controllers: readonly RoleData[],
  groups: ReadonlyMap<string, string> = new Map(),
): readonly BindingData[] {
  const own = controllers.map(({ name }) => binding("ClusterRole", name, name, [`account:${name.split(":").at(-1)}`]));
  const others = lines(CLUSTER_BINDINGS).map(([name = "", role = "", ...subjects]) =>
    binding("ClusterRole", name, role, subjects),
  );
  const more = [...groups].map(([role, group]) => binding("ClusterRole", role, role, [`group:${group}`]));
  return [...others, ...more, ...own];
}

export function namespacedBindings(): readonly BindingData[] {
  return lines(BINDINGS).map(([namespace = "", name = "", role = "", ...subjects]) => ({
    namespace,
    ...binding("Role", name, role, subjects),
  }));
}

function binding(kind: string, name: string, role: string, subjects: readonly string[]): BindingData {
  return { name, roleRef: { apiGroup: API_GROUP, kind, name: role }, subjects: subjects.map(subject) };
}

function subject(text: string): rbac.Subject {
  const at = text.indexOf(":");
  const name = text.slice(at + 1);
  if (text.startsWith("account:")) return { kind: "ServiceAccount", name, namespace: "kube-system" };
  return { kind: text.startsWith("user:") ? "User" : "Group", apiGroup: API_GROUP, name };
}

function lines(text: string): readonly (readonly string[])[] {
  return text
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
}
