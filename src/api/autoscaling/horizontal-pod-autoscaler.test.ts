import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, filledIn, update } from "../apps/testing/run-rules.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import type { HorizontalPodAutoscaler as HpaV1 } from "../types/autoscaling-v1.ts";
import type { HorizontalPodAutoscaler as HpaV2 } from "../types/autoscaling-v2.ts";
import { fromV1, toV1 } from "./conversion.ts";
import { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 } from "./index.ts";
import { targetsText } from "./targets-text.ts";

const scaleTargetRef = { kind: "Deployment", name: "d", apiVersion: "apps/v1" };

function hpa(spec: JsonObject = {}, version = "v2", metadata: JsonObject = {}): JsonObject {
  return object(
    `autoscaling/${version}`,
    "HorizontalPodAutoscaler",
    { spec: { scaleTargetRef, maxReplicas: 3, ...spec } },
    metadata,
  );
}

const cpu = (share: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: share } },
});

it("follows 80% of CPU where nothing is said, in both versions", () => {
  expect(create(HorizontalPodAutoscaler, hpa()).object?.spec).toMatchObject({ minReplicas: 1, metrics: [cpu(80)] });
  expect(create(HorizontalPodAutoscalerV1, hpa({}, "v1")).object?.spec).toMatchObject({
    minReplicas: 1,
    targetCPUUtilizationPercentage: 80,
  });
});

it("fills in both directions as soon as one is spoken of", () => {
  const spec = create(HorizontalPodAutoscaler, hpa({ behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } }))
    .object?.spec;
  expect(spec).toMatchObject({
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: "Max",
        policies: [
          { type: "Pods", value: 4, periodSeconds: 15 },
          { type: "Percent", value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: {
        stabilizationWindowSeconds: 60,
        selectPolicy: "Max",
        policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
      },
    },
  });
});

describe("what is refused", () => {
  const metric = (rest: JsonObject) => hpa({ metrics: [rest] });
  const behavior = (rules: JsonObject) => hpa({ behavior: { scaleUp: rules } });
  const rps = { metric: { name: "rps" } };
  const cases: { name: string; given: JsonObject; want: readonly string[] }[] = [
    {
      name: "two sources at once",
      given: metric({
        type: "Pods",
        pods: { ...rps, target: { type: "AverageValue", averageValue: "1" } },
        resource: cpu(5).resource,
      }),
      want: ["spec.metrics[0].resource: Forbidden: must populate the given metric source only"],
    },
    {
      name: "fewer than no replicas",
      given: hpa({ maxReplicas: -1 }),
      want: [
        "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
        "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
      ],
    },
    {
      name: "a container's resource that does not exist",
      given: metric({
        type: "ContainerResource",
        containerResource: { name: "n", container: "a.b", target: { type: "Utilization", averageUtilization: 5 } },
      }),
      want: [
        'spec.metrics[0].containerResource.name: Invalid value: "n": must be a standard resource type or fully qualified',
        'spec.metrics[0].containerResource.name: Invalid value: "n": must be a standard resource for containers',
        'spec.metrics[0].containerResource.container: Invalid value: "a.b": must not contain dots',
      ],
    },
    {
      name: "a pods metric without a positive target",
      given: metric({ type: "Pods", pods: { ...rps, target: { type: "AverageValue", averageValue: "0" } } }),
      want: [
        'spec.metrics[0].pods.target.averageValue: Invalid value: "0": must be positive',
        "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue",
      ],
    },
    {
      name: "an external metric with two targets",
      given: metric({
        type: "External",
        external: { metric: { name: "a/b" }, target: { type: "Value", value: "1", averageValue: "1" } },
      }),
      want: [
        "spec.metrics[0].external.metric.name: Invalid value: \"a/b\": may not contain '/'",
        "spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
      ],
    },
    {
      name: "an object metric without an object or a target",
      given: metric({
        type: "Object",
        object: { describedObject: { kind: "", name: "x" }, ...rps, target: { type: "Foo" } },
      }),
      want: [
        "spec.metrics[0].object.describedObject.kind: Required value",
        'spec.metrics[0].object.target.type: Invalid value: "Foo": must be either Utilization, Value, or AverageValue',
        "spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue",
      ],
    },
    {
      name: "a container's resource without the container",
      given: metric({
        type: "ContainerResource",
        containerResource: { name: "cpu", target: { type: "Utilization", averageUtilization: 5 } },
      }),
      want: ["spec.metrics[0].containerResource.container: Required value: must specify a container"],
    },
    {
      name: "an empty list of policies, which is not the same as none",
      given: behavior({ policies: [] }),
      want: ["spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"],
    },
    {
      name: "policies and a selection that do not exist",
      given: behavior({ selectPolicy: "Some", policies: [{ type: "Nodes", value: 0, periodSeconds: 1801 }] }),
      want: [
        'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Some": supported values: "Disabled", "Max", "Min"',
        'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"',
        "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
        "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
      ],
    },
    {
      name: "a tolerance below zero",
      given: behavior({ tolerance: "-1" }),
      want: ['spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0'],
    },
    {
      name: "nothing: a ReplicationController has no group",
      given: hpa({ scaleTargetRef: { kind: "ReplicationController", name: "rc", apiVersion: "v1" } }),
      want: [],
    },
  ];
  it.each(cases)("$name", ({ given, want }) => {
    expect(faults(create(HorizontalPodAutoscaler, given))).toEqual(want);
  });

  it("in v1 under the same names", () => {
    expect(faults(create(HorizontalPodAutoscalerV1, hpa({ minReplicas: 5 }, "v1")))).toEqual([
      "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
    ]);
  });
});

it("keeps scaling to zero where it was on", () => {
  const external = { type: "External", external: { metric: { name: "q" }, target: { type: "Value", value: "3" } } };
  const old = {
    ...(create(HorizontalPodAutoscaler, hpa()).object ?? {}),
    spec: { scaleTargetRef, maxReplicas: 3, minReplicas: 0, metrics: [external] },
  };
  expect(faults(update(HorizontalPodAutoscaler, old, { ...old, spec: { ...old.spec, maxReplicas: 4 } }))).toEqual([]);
});

describe("v1 and v2", () => {
  const selector = { matchLabels: { a: "b" } };
  const metrics: Json[] = [
    {
      type: "Object",
      object: {
        describedObject: { kind: "Ingress", name: "i" },
        target: { type: "Value", value: "10" },
        metric: { name: "hits" },
      },
    },
    {
      type: "Object",
      object: {
        describedObject: { kind: "Ingress", name: "i" },
        target: { type: "AverageValue", averageValue: "2" },
        metric: { name: "hits", selector },
      },
    },
    { type: "Pods", pods: { metric: { name: "rps", selector }, target: { type: "AverageValue", averageValue: "1k" } } },
    { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "100Mi" } } },
    {
      type: "ContainerResource",
      containerResource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 }, container: "c" },
    },
    {
      type: "External",
      external: { metric: { name: "q", selector }, target: { type: "AverageValue", averageValue: "30" } },
    },
    { type: "External", external: { metric: { name: "q" }, target: { type: "Value", value: "30" } } },
    cpu(70),
  ];
  const currentMetrics: Json[] = [
    { type: "Resource", resource: { name: "cpu", current: { averageValue: "450m", averageUtilization: 45 } } },
    { type: "Pods", pods: { metric: { name: "rps" }, current: { averageValue: "500m" } } },
    { type: "External", external: { metric: { name: "q" }, current: { value: "12" } } },
    {
      type: "Object",
      object: { metric: { name: "hits" }, current: { value: "1" }, describedObject: { kind: "Ingress", name: "i" } },
    },
  ];
  const conditions = [{ type: "AbleToScale", status: "True", reason: "Ready", message: "a < b" }];
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: "Max",
      policies: [{ type: "Pods", value: 4, periodSeconds: 15 }],
    },
    scaleDown: {
      selectPolicy: "Disabled",
      policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
      tolerance: "100m",
    },
  };
  const full = {
    ...hpa({ minReplicas: 1, metrics, behavior }, "v2", { annotations: { mine: "1" } }),
    status: { currentReplicas: 2, desiredReplicas: 3, currentMetrics, conditions },
  } as unknown as HpaV2;

  it("say the same: nothing is lost on the way to v1 and back", () => {
    expect(fromV1(toV1(full))).toEqual(full);
  });

  it("v1 shows the share of CPU in fields and the rest in annotations", () => {
    const v1 = toV1(full);
    expect(v1.spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 70 });
    expect(v1.status).toEqual({ currentReplicas: 2, desiredReplicas: 3, currentCPUUtilizationPercentage: 45 });
    const { annotations = {} } = v1.metadata;
    expect(Object.keys(annotations)).toEqual([
      "autoscaling.alpha.kubernetes.io/behavior",
      "autoscaling.alpha.kubernetes.io/conditions",
      "autoscaling.alpha.kubernetes.io/current-metrics",
      "autoscaling.alpha.kubernetes.io/metrics",
      "mine",
    ]);
    expect(annotations["autoscaling.alpha.kubernetes.io/behavior"]).toBe(
      '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Disabled","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":"100m"}}',
    );
    expect(annotations["autoscaling.alpha.kubernetes.io/conditions"]).toContain("a \\u003c b");
  });

  it("v1 without any metric means 80% of CPU", () => {
    expect(fromV1(hpa({}, "v1") as unknown as HpaV1).spec.metrics).toEqual([cpu(80)]);
  });

  it("annotations that cannot be read are dropped, and never reach v2", () => {
    const annotations = {
      "autoscaling.alpha.kubernetes.io/metrics": "[",
      "autoscaling.alpha.kubernetes.io/behavior": "[]",
      "autoscaling.alpha.kubernetes.io/conditions": "[1]",
    };
    const v2 = fromV1(hpa({ targetCPUUtilizationPercentage: 50 }, "v1", { annotations }) as unknown as HpaV1);
    expect(v2.metadata).toEqual({ name: "x" });
    expect(v2.spec).toEqual({ scaleTargetRef, maxReplicas: 3, metrics: [cpu(50)] });
  });

  it("v1 leaves the share open where other metrics stand in the annotation", () => {
    const annotations = { "autoscaling.alpha.kubernetes.io/metrics": "[]" };
    const draft = filledIn(HorizontalPodAutoscalerV1, hpa({}, "v1", { annotations })) as unknown as HpaV1;
    expect(draft.spec.targetCPUUtilizationPercentage).toBeUndefined();
  });
});

describe("targets", () => {
  const pods = {
    type: "Pods",
    pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "1000" } },
  };
  const external = {
    type: "External",
    external: { metric: { name: "q" }, target: { type: "AverageValue", averageValue: "30" } },
  };
  it.each([
    { metrics: [], want: "<none>" },
    { metrics: [cpu(80)], want: "cpu: <unknown>/80%" },
    { metrics: [pods, external], want: "<unknown>/1k, <unknown>/30 (avg)" },
    { metrics: [pods, external, cpu(1), cpu(2)], want: "<unknown>/1k, <unknown>/30 (avg) + 2 more..." },
    { metrics: [{ type: "Odd" }], want: "<unknown type>" },
  ])("$want", ({ metrics, want }) => {
    expect(targetsText(metrics, [])).toBe(want);
  });
});
