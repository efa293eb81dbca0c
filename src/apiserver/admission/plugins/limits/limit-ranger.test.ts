import { describe, expect, it } from "vitest";
import { admit, claimObject, podObject } from "../../testing/index.ts";
import { limitRanger } from "./limit-ranger.ts";

const range = (...limits: object[]) => ({
  kind: "LimitRange",
  apiVersion: "v1",
  metadata: { name: "l", namespace: "a" },
  spec: { limits },
});
const sized = (requests: object, limits: object, spec: object = {}) =>
  podObject({ containers: [{ name: "c", image: "x", resources: { requests, limits } }], ...spec });

const refusals: { name: string; limits: object[]; object: object; resource?: string; why: string }[] = [
  {
    name: "what is within",
    limits: [{ type: "Container", max: { cpu: "1" } }],
    object: sized({}, { cpu: "1" }),
    why: "",
  },
  {
    name: "too much for a container and for a pod",
    limits: [
      { type: "Container", max: { cpu: "1" } },
      { type: "Pod", max: { cpu: "1500m" } },
    ],
    object: sized({ cpu: "2" }, { cpu: "2" }),
    why: "[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1500m, but limit is 2]",
  },
  {
    name: "too little",
    limits: [{ type: "Container", min: { cpu: "100m" } }],
    object: sized({ cpu: "50m" }, {}),
    why: "minimum cpu usage per Container is 100m, but request is 50m",
  },
  {
    name: "too low a limit",
    limits: [{ type: "Container", min: { cpu: "100m" } }],
    object: sized({ cpu: "100m" }, { cpu: "50m" }),
    why: "minimum cpu usage per Container is 100m, but limit is 50m",
  },
  {
    name: "no request",
    limits: [{ type: "Container", min: { memory: "1Gi" } }],
    object: podObject(),
    why: "minimum memory usage per Container is 1Gi.  No request is specified",
  },
  {
    name: "no limit, told once for two containers",
    limits: [{ type: "Container", max: { memory: "1Gi" } }],
    object: podObject({ initContainers: [{ name: "i", image: "x" }] }),
    why: "maximum memory usage per Container is 1Gi.  No limit is specified",
  },
  {
    name: "too high a request",
    limits: [{ type: "Container", max: { cpu: "1" } }],
    object: sized({ cpu: "2" }, { cpu: "1" }),
    why: "maximum cpu usage per Container is 1, but request is 2",
  },
  {
    name: "too great a ratio",
    limits: [{ type: "Container", maxLimitRequestRatio: { cpu: "2" } }],
    object: sized({ cpu: "100m" }, { cpu: "1" }),
    why: "cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000",
  },
  {
    name: "a ratio without a request",
    limits: [{ type: "Container", maxLimitRequestRatio: { cpu: "2" } }],
    object: sized({}, { cpu: "1" }),
    why: "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
  },
  {
    name: "a claim that is too large",
    limits: [{ type: "PersistentVolumeClaim", max: { storage: "1Gi" } }],
    object: claimObject({ resources: { requests: { storage: "2Gi" } } }),
    resource: "persistentvolumeclaims",
    why: "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi",
  },
  {
    name: "a claim that is too small",
    limits: [{ type: "PersistentVolumeClaim", min: { storage: "1Gi" } }],
    object: claimObject({ resources: { requests: { storage: "1Mi" } } }),
    resource: "persistentvolumeclaims",
    why: "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi",
  },
];

describe("bounds of a LimitRange", () => {
  it.each(refusals)("$name", async ({ limits, object, resource = "pods", why }) => {
    expect(await admit(limitRanger, { object, resource, cluster: [range(...limits)] })).toMatchObject({ why });
  });

  it("concern other namespaces not at all", async () => {
    const elsewhere = { ...range({ type: "Pod", max: { cpu: "1" } }), metadata: { name: "l", namespace: "b" } };
    expect(await admit(limitRanger, { object: podObject(), cluster: [elsewhere] })).toMatchObject({ why: "" });
  });

  it("hold for a resize, and not for a pod that goes away", async () => {
    const cluster = [range({ type: "Container", max: { cpu: "1" } })];
    const object = sized({}, { cpu: "2" });
    const gone = podObject({}, { deletionTimestamp: "2030-01-01T00:00:00Z" });
    const resize = (old: object) => admit(limitRanger, { object, old, resource: "pods/resize", cluster });
    expect((await resize(podObject())).why).toContain("but limit is 2");
    expect((await resize(gone)).why).toBe("");
  });
});

describe("defaults of a LimitRange", () => {
  it("are filled in where nothing is said, and told in an annotation", async () => {
    const limits = { type: "Container", default: { memory: "256Mi", cpu: "500m" }, defaultRequest: { cpu: "100m" } };
    const object = podObject({
      containers: [{ name: "c", image: "x", resources: { limits: { cpu: "1" } } }],
      initContainers: [{ name: "i", image: "x" }],
    });
    const { object: admitted } = await admit(limitRanger, { object, cluster: [range(limits)] });
    expect(admitted).toMatchObject({
      metadata: {
        annotations: {
          "kubernetes.io/limit-ranger":
            "LimitRanger plugin set: cpu request for container c; memory limit for container c; cpu request for init container i; cpu, memory limit for init container i",
        },
      },
      spec: {
        containers: [{ resources: { limits: { cpu: "1", memory: "256Mi" }, requests: { cpu: "100m" } } }],
        initContainers: [{ resources: { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "100m" } } }],
      },
    });
  });
});
