/** The least valid object of every kind that is stored, by apiVersion and kind: for tests that want one of each. */

const template = {
  metadata: { labels: { app: "sample" } },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }] },
};
const selector = { matchLabels: { app: "sample" } };
const workload = { selector, template };
const jobTemplate = { spec: { ...template.spec, restartPolicy: "Never" } };
const webhook = {
  name: "sample.example.com",
  clientConfig: { url: "https://127.0.0.1:1/hook" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  failurePolicy: "Ignore",
  objectSelector: { matchLabels: { hooked: "yes" } },
  rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};
const resourceRules = webhook.rules;
const deviceRequests = { devices: { requests: [{ name: "one", exactly: { deviceClassName: "sample" } }] } };
const roleRules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const user = { kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" };
const role = (kind: string) => ({ kind, name: "sample", apiGroup: "rbac.authorization.k8s.io" });

/** A certificate request needs a real one in it. */
export interface SampleOptions {
  readonly certificateRequestPem: string;
}

/**
 * What stands beside kind, apiVersion and metadata. Objects are called `sample`, where `metadata` says nothing else.
 */
export function samples({ certificateRequestPem }: SampleOptions): ReadonlyMap<string, Record<string, unknown>> {
  return new Map<string, Record<string, unknown>>([
    ["v1 ConfigMap", { data: { key: "value" } }],
    ["v1 Endpoints", { subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }] }],
    ["v1 Event", { involvedObject: { kind: "Pod", name: "sample", namespace: "default" }, reason: "Sampled" }],
    ["v1 LimitRange", { spec: { limits: [{ type: "Container", max: { cpu: "64" } }] } }],
    ["v1 Namespace", {}],
    ["v1 Node", {}],
    [
      "v1 PersistentVolumeClaim",
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    ],
    [
      "v1 PersistentVolume",
      { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/sample" } } },
    ],
    ["v1 Pod", { spec: template.spec }],
    ["v1 PodTemplate", { template }],
    ["v1 ReplicationController", { spec: { selector: { app: "sample" }, template } }],
    ["v1 ResourceQuota", { spec: { hard: { pods: "100" } } }],
    ["v1 Secret", { stringData: { key: "value" } }],
    ["v1 ServiceAccount", {}],
    ["v1 Service", { spec: { selector: { app: "sample" }, ports: [{ port: 80 }] } }],
    [
      "apiregistration.k8s.io/v1 APIService",
      {
        metadata: { name: "v1.aggregated.example.com" },
        spec: {
          group: "aggregated.example.com",
          version: "v1",
          groupPriorityMinimum: 1000,
          versionPriority: 15,
          service: { namespace: "default", name: "sample" },
          insecureSkipTLSVerify: true,
        },
      },
    ],
    ["apps/v1 ControllerRevision", { revision: 1, data: {} }],
    ["apps/v1 DaemonSet", { spec: workload }],
    ["apps/v1 Deployment", { spec: workload }],
    ["apps/v1 ReplicaSet", { spec: workload }],
    ["apps/v1 StatefulSet", { spec: { ...workload, serviceName: "sample" } }],
    [
      "events.k8s.io/v1 Event",
      {
        metadata: { name: "sample-new" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "example.com/sample",
        reportingInstance: "one",
        action: "Sampling",
        reason: "Sampled",
        type: "Normal",
        regarding: { kind: "Pod", name: "sample", namespace: "default" },
      },
    ],
    ["autoscaling/v2 HorizontalPodAutoscaler", autoscaler("sample")],
    ["autoscaling/v1 HorizontalPodAutoscaler", autoscaler("sample-v1")],
    ["batch/v1 CronJob", { spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: { template: jobTemplate } } } }],
    ["batch/v1 Job", { spec: { template: jobTemplate } }],
    [
      "certificates.k8s.io/v1 CertificateSigningRequest",
      {
        spec: {
          request: Buffer.from(certificateRequestPem).toString("base64"),
          signerName: "example.com/sample",
          usages: ["client auth"],
        },
      },
    ],
    ["networking.k8s.io/v1 IngressClass", { spec: { controller: "example.com/sample" } }],
    [
      "networking.k8s.io/v1 Ingress",
      { spec: { defaultBackend: { service: { name: "sample", port: { number: 80 } } } } },
    ],
    [
      "networking.k8s.io/v1 IPAddress",
      {
        metadata: { name: "192.0.2.7" },
        spec: { parentRef: { resource: "services", namespace: "default", name: "sample" } },
      },
    ],
    ["networking.k8s.io/v1 NetworkPolicy", { spec: { podSelector: {} } }],
    ["networking.k8s.io/v1 ServiceCIDR", { spec: { cidrs: ["198.51.100.0/24"] } }],
    ["policy/v1 PodDisruptionBudget", { spec: { minAvailable: 1, selector } }],
    ["rbac.authorization.k8s.io/v1 ClusterRoleBinding", { subjects: [user], roleRef: role("ClusterRole") }],
    ["rbac.authorization.k8s.io/v1 ClusterRole", { rules: roleRules }],
    ["rbac.authorization.k8s.io/v1 RoleBinding", { subjects: [user], roleRef: role("Role") }],
    ["rbac.authorization.k8s.io/v1 Role", { rules: roleRules }],
    ["storage.k8s.io/v1 CSIDriver", { spec: {} }],
    ["storage.k8s.io/v1 CSINode", { spec: { drivers: [] } }],
    ["storage.k8s.io/v1 CSIStorageCapacity", { storageClassName: "sample", capacity: "1Gi" }],
    ["storage.k8s.io/v1 StorageClass", { provisioner: "example.com/sample" }],
    [
      "storage.k8s.io/v1 VolumeAttachment",
      { spec: { attacher: "example.com", nodeName: "sample", source: { persistentVolumeName: "sample" } } },
    ],
    ["storage.k8s.io/v1 VolumeAttributesClass", { driverName: "example.com", parameters: { speed: "fast" } }],
    [
      "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy",
      {
        spec: {
          matchConstraints: { resourceRules },
          reinvocationPolicy: "Never",
          mutations: [
            { patchType: "ApplyConfiguration", applyConfiguration: { expression: 'Object{data: {"by": "policy"}}' } },
          ],
        },
      },
    ],
    ["admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding", { spec: { policyName: "absent" } }],
    ["admissionregistration.k8s.io/v1 MutatingWebhookConfiguration", { webhooks: [webhook] }],
    [
      "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy",
      { spec: { matchConstraints: { resourceRules }, validations: [{ expression: "true" }] } },
    ],
    [
      "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding",
      { spec: { policyName: "sample", validationActions: ["Deny"] } },
    ],
    ["admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", { webhooks: [webhook] }],
    ["apiextensions.k8s.io/v1 CustomResourceDefinition", definitionOf("samples", {})],
    ["scheduling.k8s.io/v1 PriorityClass", { value: 10 }],
    ["coordination.k8s.io/v1 Lease", { spec: { holderIdentity: "sample" } }],
    ["node.k8s.io/v1 RuntimeClass", { handler: "sample" }],
    ["discovery.k8s.io/v1 EndpointSlice", { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }] }],
    ["resource.k8s.io/v1 DeviceClass", { spec: {} }],
    ["resource.k8s.io/v1 ResourceClaim", { spec: deviceRequests }],
    ["resource.k8s.io/v1 ResourceClaimTemplate", { spec: { spec: deviceRequests } }],
    [
      "resource.k8s.io/v1 ResourceSlice",
      {
        spec: {
          driver: "devices.example.com",
          pool: { name: "sample", generation: 1, resourceSliceCount: 1 },
          nodeName: "sample",
          devices: [{ name: "one" }],
        },
      },
    ],
    [
      "flowcontrol.apiserver.k8s.io/v1 FlowSchema",
      { spec: { priorityLevelConfiguration: { name: "sample" }, matchingPrecedence: 9000 } },
    ],
    [
      "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
      { spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } } },
    ],
  ]);
}

/** A CustomResourceDefinition in the group example.com; `more` goes into its spec. */
export function definitionOf(plural: string, more: Record<string, unknown>): Record<string, unknown> {
  const singular = plural.replace(/s$/, "");
  const kind = `${singular.slice(0, 1).toUpperCase()}${singular.slice(1)}`;
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, singular, kind },
      versions: [version("v1", true)],
      ...more,
    },
  };
}

export function version(name: string, storage: boolean, more: Record<string, unknown> = {}) {
  const openAPIV3Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer", default: 1 } } } },
  };
  return { name, served: true, storage, schema: { openAPIV3Schema }, ...more };
}

function autoscaler(name: string) {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "sample" };
  return { metadata: { name }, spec: { scaleTargetRef, maxReplicas: 3 } };
}
