import { describe, expect, it } from "vitest";
import { formatQuantity } from "../../../machinery/scalars/quantity.ts";
import type { Container, Pod, PodSpec } from "../../../types/core-v1.ts";
import type { Totals } from "./container-totals.ts";
import { hasPodLevelResources, podLimits, podRequests } from "./pod-totals.ts";

const container = (name: string, cpu: string, more: Partial<Container> = {}): Container => ({
  name,
  image: "x",
  resources: { requests: { cpu }, limits: { cpu } },
  ...more,
});
const pod = (spec: PodSpec, status: Pod["status"] = {}): Pod => ({ metadata: { name: "p" }, spec, status });
const texts = (totals: Totals) => Object.fromEntries(Object.entries(totals).map(([k, v]) => [k, formatQuantity(v)]));
const resized = (reason: string): Pod["status"] => ({
  conditions: [{ type: "PodResizePending", status: "True", reason }],
  containerStatuses: [
    {
      name: "a",
      image: "x",
      imageID: "",
      ready: true,
      restartCount: 0,
      allocatedResources: { cpu: "200m" },
      resources: { requests: { cpu: "150m" }, limits: { cpu: "300m" } },
    },
  ],
});

const rows: {
  name: string;
  pod: Pod;
  options?: Parameters<typeof podRequests>[1];
  requests: object;
  limits: object;
}[] = [
  {
    name: "containers together",
    pod: pod({ containers: [container("a", "1"), container("b", "500m")] }),
    requests: { cpu: "1500m" },
    limits: { cpu: "1500m" },
  },
  {
    name: "the largest init container, if that is more",
    pod: pod({ containers: [container("a", "1")], initContainers: [container("i", "2"), container("j", "1")] }),
    requests: { cpu: "2" },
    limits: { cpu: "2" },
  },
  {
    name: "sidecars with the containers, and with the init containers after them",
    pod: pod({
      containers: [container("a", "1")],
      initContainers: [container("s", "1", { restartPolicy: "Always" }), container("i", "2")],
    }),
    requests: { cpu: "3" },
    limits: { cpu: "3" },
  },
  {
    name: "what the pod says for all of them",
    pod: pod({ containers: [container("a", "1")], resources: { requests: { cpu: "4" }, limits: { memory: "1Gi" } } }),
    requests: { cpu: "4" },
    limits: { cpu: "1", memory: "1Gi" },
  },
  {
    name: "overhead, which makes no limit where there is none",
    pod: pod({ containers: [container("a", "1")], overhead: { cpu: "100m", memory: "10Mi" } }),
    requests: { cpu: "1100m", memory: "10Mi" },
    limits: { cpu: "1100m" },
  },
  {
    name: "no overhead where none is wanted",
    pod: pod({ containers: [container("a", "1")], overhead: { cpu: "100m" } }),
    options: { overhead: false },
    requests: { cpu: "1" },
    limits: { cpu: "1" },
  },
  {
    name: "the larger of what is wanted and given, during a resize",
    pod: pod({ containers: [container("a", "100m")] }, resized("Deferred")),
    options: { useStatus: true },
    requests: { cpu: "200m" },
    limits: { cpu: "300m" },
  },
  {
    name: "only what is given, where more is not to be had",
    pod: pod({ containers: [container("a", "9")] }, resized("Infeasible")),
    options: { useStatus: true },
    requests: { cpu: "200m" },
    limits: { cpu: "300m" },
  },
];

describe("podRequests and podLimits", () => {
  it.each(rows)("count $name", ({ pod, options, requests, limits }) => {
    expect(texts(podRequests(pod, options))).toEqual(requests);
    expect(texts(podLimits(pod, options))).toEqual(limits);
  });

  it("tell whether the pod itself says something", () => {
    const says = (requests: Record<string, string>) =>
      hasPodLevelResources(pod({ containers: [], resources: { requests } }));
    expect([says({ cpu: "1" }), says({ "hugepages-2Mi": "2Mi" }), says({ "example.com/gpu": "1" }), says({})]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
