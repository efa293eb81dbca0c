/**
 * Makes the resource metrics API known: the APIService, and the roles that users know from metrics-server.
 *
 * 1. What exists is left as it is: an APIService that names another Service belongs to another metrics-server.
 */
import { type apiregistration, type KubeObject, kinds, type rbac } from "#api";
import { type CallOptions, type Client, createUnlessThere, type ResourceOf } from "#client";
import { GROUP } from "./api/objects.ts";

const NAMESPACE = "kube-system";
const ACCOUNT = "metrics-server";
const LABELS = { "k8s-app": "metrics-server" };

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

export function apiServiceOf(service: ServiceName): apiregistration.APIService {
  return {
    metadata: { name: `v1beta1.${GROUP}`, labels: LABELS },
    spec: { group: GROUP, version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100, service },
  };
}

interface Wanted {
  readonly resource: ResourceOf<KubeObject>;
  readonly object: KubeObject;
}

/** The account, its roles, and the role by which users may read metrics. */
export function metricsObjects(): readonly Wanted[] {
  const subjects = [{ kind: "ServiceAccount", name: ACCOUNT, namespace: NAMESPACE }];
  const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  const aggregate = (role: string) => ({ [`rbac.authorization.k8s.io/aggregate-to-${role}`]: "true" });
  const reader: rbac.ClusterRole = {
    metadata: {
      name: "system:aggregated-metrics-reader",
      labels: { ...LABELS, ...aggregate("admin"), ...aggregate("edit"), ...aggregate("view") },
    },
    rules: [{ apiGroups: [GROUP], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] }],
  };
  const own: rbac.ClusterRole = {
    metadata: { name: "system:metrics-server", labels: LABELS },
    rules: [
      { apiGroups: [""], resources: ["nodes/metrics"], verbs: ["get"] },
      { apiGroups: [""], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] },
    ],
  };
  const binding = (name: string, role: string): rbac.ClusterRoleBinding => ({
    metadata: { name, labels: LABELS },
    roleRef: roleRef("ClusterRole", role),
    subjects,
  });
  const authReader: rbac.RoleBinding = {
    metadata: { name: "metrics-server-auth-reader", namespace: NAMESPACE, labels: LABELS },
    roleRef: roleRef("Role", "extension-apiserver-authentication-reader"),
    subjects,
  };
  return [
    wanted(kinds.ServiceAccount, { metadata: { name: ACCOUNT, namespace: NAMESPACE, labels: LABELS } }),
    wanted(kinds.ClusterRole, reader),
    wanted(kinds.ClusterRole, own),
    wanted(kinds.RoleBinding, authReader),
    wanted(kinds.ClusterRoleBinding, binding("metrics-server:system:auth-delegator", "system:auth-delegator")),
    wanted(kinds.ClusterRoleBinding, binding("system:metrics-server", "system:metrics-server")),
  ];
}

/** Creates what is missing. `service`: where the API is served. */
export async function registerMetrics(client: Client, service: ServiceName, options: CallOptions = {}): Promise<void> {
  const all = [...metricsObjects(), wanted(kinds.APIService, apiServiceOf(service))];
  for (const { resource, object } of all) {
    const { namespace } = object.metadata;
    const objects = client.of(resource);
    await createUnlessThere(namespace === undefined ? objects : objects.in(namespace), object, options);
  }
}

function wanted<T extends KubeObject>(resource: ResourceOf<T>, object: T): Wanted {
  return { resource: resource as unknown as ResourceOf<KubeObject>, object };
}
