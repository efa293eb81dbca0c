import { expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { nodeDeclaredFeatureValidator as plugin } from "./node-declared-feature-validator.ts";

const POD_LEVEL = "InPlacePodLevelResourcesVerticalScaling";
const INIT = "InPlacePodVerticalScalingInitContainers";
const cpu = (amount: string) => ({ requests: { cpu: amount } });
const pod = (spec: object = {}, generation = 2) => podObject({ nodeName: "n", ...spec }, { generation });
const old = (spec: object = {}) => pod(spec, 1);
const init = (amount: string, more: object = {}) => ({
  initContainers: [{ name: "i", image: "x", resources: cpu(amount), ...more }],
});
const node = (...declaredFeatures: string[]) => ({
  kind: "Node",
  apiVersion: "v1",
  metadata: { name: "n" },
  status: { declaredFeatures },
});
const lacks = (features: string) => `pod update requires features ${features} which are not available on node "n"`;

it.each([
  {
    name: "pod-level resources",
    object: pod({ resources: cpu("2") }),
    old: old({ resources: cpu("1") }),
    why: lacks(POD_LEVEL),
  },
  {
    name: "pod-level resources, declared",
    object: pod({ resources: cpu("2") }),
    old: old({ resources: cpu("1") }),
    cluster: [node("Other", POD_LEVEL)],
    why: "",
  },
  { name: "the same amount", object: pod({ resources: cpu("1000m") }), old: old({ resources: cpu("1") }), why: "" },
  { name: "an init container", object: pod(init("2")), old: old(init("1")), why: lacks(INIT) },
  {
    name: "a sidecar",
    object: pod(init("2", { restartPolicy: "Always" })),
    old: old(init("1", { restartPolicy: "Always" })),
    why: "",
  },
  {
    name: "both",
    object: pod({ resources: cpu("2"), ...init("2") }),
    old: old({ resources: cpu("1"), ...init("1") }),
    why: lacks(`${POD_LEVEL}, ${INIT}`),
  },
  {
    name: "both, one declared",
    object: pod({ resources: cpu("2"), ...init("2") }),
    old: old({ resources: cpu("1"), ...init("1") }),
    cluster: [node(POD_LEVEL)],
    why: lacks(INIT),
  },
  {
    name: "a container",
    object: pod({ containers: [{ name: "c", resources: cpu("2") }] }),
    old: old(),
    cluster: [],
    why: "",
  },
  {
    name: "a node that is not there",
    object: pod({ resources: cpu("2") }),
    old: old(),
    cluster: [],
    why: 'node "n" not found',
  },
  { name: "no node", object: pod({ nodeName: "", resources: cpu("2") }), old: old({ nodeName: "" }), why: "" },
  { name: "the same generation", object: pod({ resources: cpu("2") }, 1), old: old(), why: "" },
])("$name", async ({ object, old, cluster = [node()], why }) => {
  for (const resource of ["pods", "pods/resize"])
    expect(await admit(plugin, { resource, object, old, cluster })).toMatchObject({ why });
});
