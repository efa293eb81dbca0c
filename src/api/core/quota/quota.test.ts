import { describe, expect, it } from "vitest";
import { formatQuantity } from "../../machinery/scalars/quantity.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import type { ResourceQuota, ResourceQuotaSpec } from "../../types/core-v1.ts";
import type { Totals } from "../pod/resources/container-totals.ts";
import { calculateUsage, charge, evaluatorFor, type LimitedResource, quotaState, usedTexts } from "./index.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const texts = (totals: Totals) => Object.fromEntries(Object.entries(totals).map(([k, v]) => [k, formatQuantity(v)]));
const evaluator = (group: string, plural: string) => {
  const found = evaluatorFor(group, plural);
  if (found === undefined) throw new Error(`${plural} are not counted`);
  return found;
};
const object = (fields: object = {}, metadata: object = {}): KubeObject =>
  ({ metadata: { name: "x", ...metadata }, ...fields }) as KubeObject;
const pod = (spec: object = {}, fields: object = {}, metadata: object = {}) =>
  object({ spec: { containers: [{ name: "c", image: "x" }], ...spec }, ...fields }, metadata);
const sized = (requests: object, limits: object = {}) =>
  pod({ containers: [{ name: "c", image: "x", resources: { requests, limits } }] });
const claim = (storage: string, spec: object = {}, fields: object = {}, metadata: object = {}) =>
  object({ spec: { resources: { requests: { storage } }, ...spec }, ...fields }, metadata);

const usages: { name: string; group?: string; plural: string; object: KubeObject; used: object }[] = [
  { name: "an object", plural: "configmaps", object: object(), used: { "count/configmaps": "1", configmaps: "1" } },
  {
    name: "an object of another group",
    group: "apps",
    plural: "deployments",
    object: object(),
    used: { "count/deployments.apps": "1" },
  },
  {
    name: "a pod",
    plural: "pods",
    object: sized({ cpu: "1", "hugepages-2Mi": "2Mi", "example.com/gpu": "2" }, { cpu: "2", memory: "1Gi" }),
    used: {
      "count/pods": "1",
      pods: "1",
      cpu: "1",
      "requests.cpu": "1",
      "limits.cpu": "2",
      "limits.memory": "1Gi",
      "hugepages-2Mi": "2Mi",
      "requests.hugepages-2Mi": "2Mi",
      "requests.example.com/gpu": "2",
    },
  },
  {
    name: "a pod that has ended",
    plural: "pods",
    object: pod({}, { status: { phase: "Succeeded" } }),
    used: { "count/pods": "1" },
  },
  {
    name: "a pod whose grace period is long over",
    plural: "pods",
    object: pod({}, {}, { deletionTimestamp: "2029-12-31T23:00:00Z", deletionGracePeriodSeconds: 30 }),
    used: { "count/pods": "1" },
  },
  {
    name: "a service with node ports",
    plural: "services",
    object: object({ spec: { type: "NodePort", ports: [{ port: 1 }, { port: 2 }] } }),
    used: { "count/services": "1", services: "1", "services.loadbalancers": "0", "services.nodeports": "2" },
  },
  {
    name: "a load balancer that wants no node ports but one",
    plural: "services",
    object: object({
      spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{ nodePort: 30000 }, {}] },
    }),
    used: { "count/services": "1", services: "1", "services.loadbalancers": "1", "services.nodeports": "1" },
  },
  {
    name: "a claim of a storage class",
    plural: "persistentvolumeclaims",
    object: claim("1500m", { storageClassName: "gold" }),
    used: {
      persistentvolumeclaims: "1",
      "count/persistentvolumeclaims": "1",
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      "requests.storage": "2",
      "gold.storageclass.storage.k8s.io/requests.storage": "2",
    },
  },
  {
    name: "a claim whose volume has grown further",
    plural: "persistentvolumeclaims",
    object: claim("1Gi", {}, { status: { allocatedResources: { storage: "3Gi" } } }),
    used: { persistentvolumeclaims: "1", "count/persistentvolumeclaims": "1", "requests.storage": "3Gi" },
  },
  {
    name: "the devices of a resource claim",
    group: "resource.k8s.io",
    plural: "resourceclaims",
    object: object({
      spec: {
        devices: {
          requests: [
            { name: "a", exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 } },
            {
              name: "b",
              firstAvailable: [
                { name: "x", deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 },
                { name: "y", deviceClassName: "gpu", allocationMode: "All" },
                { name: "z", deviceClassName: "fpga", allocationMode: "ExactCount", count: 4 },
              ],
            },
          ],
        },
      },
    }),
    used: {
      "count/resourceclaims.resource.k8s.io": "1",
      "gpu.deviceclass.resource.k8s.io/devices": "34",
      "fpga.deviceclass.resource.k8s.io/devices": "4",
    },
  },
];

describe("usage", () => {
  it.each(usages)("of $name", ({ group = "", plural, object, used }) => {
    expect(texts(evaluator(group, plural).usage(object, NOW))).toEqual(used);
  });

  it("of events and reviews is none of a quota's business", () => {
    expect([evaluatorFor("", "events"), evaluatorFor("events.k8s.io", "events"), evaluatorFor("", "bindings")]).toEqual(
      [undefined, undefined, undefined],
    );
  });
});

const scopes: { name: string; plural?: string; scope: object; object: KubeObject; matches: boolean }[] = [
  { name: "a deadline", scope: { scopeName: "Terminating" }, object: pod({ activeDeadlineSeconds: 0 }), matches: true },
  { name: "no deadline", scope: { scopeName: "Terminating" }, object: pod(), matches: false },
  { name: "no deadline either", scope: { scopeName: "NotTerminating" }, object: pod(), matches: true },
  { name: "nothing asked for", scope: { scopeName: "BestEffort" }, object: pod(), matches: true },
  { name: "something asked for", scope: { scopeName: "NotBestEffort" }, object: sized({ cpu: "1" }), matches: true },
  {
    name: "a priority",
    scope: { scopeName: "PriorityClass", operator: "In", values: ["high"] },
    object: pod({ priorityClassName: "high" }),
    matches: true,
  },
  {
    name: "no priority",
    scope: { scopeName: "PriorityClass", operator: "NotIn", values: ["high"] },
    object: pod(),
    matches: true,
  },
  { name: "any priority", scope: { scopeName: "PriorityClass", operator: "Exists" }, object: pod(), matches: false },
  {
    name: "affinity across namespaces",
    scope: { scopeName: "CrossNamespacePodAffinity", operator: "Exists" },
    object: pod({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: "k", namespaceSelector: {} } },
          ],
        },
      },
    }),
    matches: true,
  },
  {
    name: "a class of attributes that a volume is on its way to",
    plural: "persistentvolumeclaims",
    scope: { scopeName: "VolumeAttributesClass", operator: "In", values: ["fast"] },
    object: claim("1", {}, { status: { modifyVolumeStatus: { targetVolumeAttributesClassName: "fast" } } }),
    matches: true,
  },
  {
    name: "nothing that services have",
    plural: "services",
    scope: { scopeName: "BestEffort" },
    object: object(),
    matches: false,
  },
];

describe("scopes", () => {
  it.each(scopes)("know $name", ({ plural = "pods", scope, object, matches }) => {
    const asked = { operator: "Exists", ...scope } as Parameters<ReturnType<typeof evaluator>["matchesScope"]>[0];
    expect(evaluator("", plural).matchesScope(asked, object)).toBe(matches);
  });
});

const quota = (
  hard: Record<string, string>,
  used: Record<string, string>,
  spec: ResourceQuotaSpec = {},
): ResourceQuota => ({ metadata: { name: "q", namespace: "a" }, spec: { hard, ...spec }, status: { hard, used } });

interface Row {
  name: string;
  plural?: string;
  quota: ResourceQuota;
  object: KubeObject;
  old?: KubeObject;
  subresource?: string;
  limited?: readonly LimitedResource[];
  /** What is used then; or the refusal. */
  used?: object;
  why?: string;
}

const old = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, resourceVersion: "1" } });

const charges: Row[] = [
  { name: "what fits", quota: quota({ pods: "2" }, { pods: "1" }), object: pod(), used: { pods: "2" } },
  {
    name: "one too many",
    quota: quota({ pods: "2", "count/pods": "9" }, { pods: "2", "count/pods": "2" }),
    object: pod(),
    why: "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2",
  },
  {
    name: "a quota without a usage yet",
    quota: quota({ pods: "2" }, {}),
    object: pod(),
    why: "status unknown for quota: q, resources: pods",
  },
  {
    name: "containers that do not say what they need",
    quota: quota({ "limits.memory": "1Gi", cpu: "2" }, { "limits.memory": "0", cpu: "0" }),
    object: pod({ initContainers: [{ name: "a", image: "x" }] }),
    why: "failed quota: q: must specify cpu for: a,c; limits.memory for: a,c",
  },
  {
    name: "a pod outside of the scope",
    quota: quota({ pods: "0" }, { pods: "0" }, { scopes: ["BestEffort"] }),
    object: sized({ cpu: "1" }),
    used: { pods: "0" },
  },
  {
    name: "only what a change adds",
    plural: "persistentvolumeclaims",
    quota: quota({ "requests.storage": "5Gi" }, { "requests.storage": "4Gi" }),
    object: claim("5Gi"),
    old: old(claim("4Gi")),
    used: { "requests.storage": "5Gi" },
  },
  {
    name: "nothing for a change that frees",
    plural: "persistentvolumeclaims",
    quota: quota({ "requests.storage": "1Gi" }, { "requests.storage": "4Gi" }),
    object: claim("3Gi"),
    old: old(claim("4Gi")),
    used: { "requests.storage": "4Gi" },
  },
  {
    name: "a status beyond the quota, which only tells what is so",
    plural: "persistentvolumeclaims",
    quota: quota({ "requests.storage": "1Gi" }, { "requests.storage": "1Gi" }),
    object: claim("1Gi", {}, { status: { allocatedResources: { storage: "2Gi" } } }),
    old: old(claim("1Gi")),
    subresource: "status",
    used: { "requests.storage": "2Gi" },
  },
  {
    name: "a pod that comes into the scope with a change",
    quota: quota({ "requests.cpu": "1" }, { "requests.cpu": "1" }, { scopes: ["NotBestEffort"] }),
    object: sized({ cpu: "1" }),
    old: old(pod()),
    subresource: "resize",
    why: "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1",
  },
  {
    name: "what is limited and covered by no quota",
    quota: quota({ services: "9" }, { services: "0" }),
    object: pod(),
    limited: [{ resource: "pods", matchContains: ["pods"] }],
    why: "insufficient quota to consume: count/pods,pods",
  },
  {
    name: "a scope that is limited and covered by no quota",
    quota: quota({ services: "9" }, { services: "0" }),
    object: pod({ priorityClassName: "high" }),
    limited: [{ resource: "pods", matchScopes: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] }],
    why: "insufficient quota to match these scopes: [{PriorityClass In [high]}]",
  },
  {
    name: "less than nothing",
    quota: quota({ cpu: "1" }, { cpu: "0" }),
    object: sized({ cpu: "-1" }),
    why: "quota usage is negative for resource(s): cpu,requests.cpu",
  },
];

describe("charge", () => {
  it.each(charges)("$name", ({ plural = "pods", quota, object, old, subresource = "", limited = [], used, why }) => {
    const operation = old === undefined ? "CREATE" : "UPDATE";
    const write = { operation, subresource, object, ...(old !== undefined && { old }) } as const;
    const state = quotaState(quota);
    const result = charge([state], write, evaluator("", plural), limited, NOW);
    if (!result.ok) expect(result.why).toBe(why);
    else expect({ used: usedTexts(result.quotas[0] ?? state), why }).toEqual({ used, why: undefined });
  });
});

describe("calculateUsage", () => {
  it("counts all that a quota measures, zero included, within its scopes", () => {
    const counted = quota(
      { pods: "9", cpu: "9", "count/secrets": "1", unknown: "1" },
      {},
      { scopes: ["NotBestEffort"] },
    );
    const objects = new Map([["pods", [pod(), sized({ cpu: "1" }), sized({ cpu: "2" })]]]);
    const evaluators = [evaluator("", "pods"), evaluator("", "secrets")];
    expect(texts(calculateUsage(counted, evaluators, ({ plural }) => objects.get(plural) ?? [], NOW))).toEqual({
      pods: "2",
      cpu: "3",
      "count/secrets": "0",
    });
  });
});
