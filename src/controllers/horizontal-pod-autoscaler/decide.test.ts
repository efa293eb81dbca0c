import { describe, expect, it } from "vitest";
import type { autoscaling, core } from "#api";
import { type Deciding, decide, needsMetrics, type Readings, targetFailed } from "./decide.ts";
import type { Reading } from "./evaluate.ts";
import { AUTOSCALER_DEFAULTS } from "./settings.ts";
import { NOW, podsOf, samplesOf, timeAt } from "./testing/pods.ts";

type Metric = autoscaling.MetricSpec;
const TIME = timeAt(NOW);

const cpu = (averageUtilization = 50): Metric => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});
const memory = (averageValue: string): Metric => ({
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue } },
});
const container: Metric = {
  type: "ContainerResource",
  containerResource: { name: "cpu", container: "main", target: { type: "Utilization", averageUtilization: 50 } },
};
const perPod: Metric = {
  type: "Pods",
  pods: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "100" } },
};
const object = (target: object): Metric => ({
  type: "Object",
  object: {
    describedObject: { apiVersion: "v1", kind: "Service", name: "front" },
    metric: { name: "hits" },
    target: target as autoscaling.MetricTarget,
  },
});
const external = (target: object, selector?: object): Metric => ({
  type: "External",
  external: {
    metric: { name: "queue", ...(selector !== undefined && { selector }) },
    target: target as autoscaling.MetricTarget,
  },
});

const measured = (pods: readonly core.Pod[], ...values: (number | undefined)[]): Reading => ({
  of: "pods",
  samples: { ok: true, value: samplesOf(pods, values) },
});
const values = (...milli: number[]): Reading => ({
  of: "other",
  values: { ok: true, value: milli.map((each) => BigInt(each)) },
});
const broken = (of: "pods" | "other", error: string): Reading =>
  of === "pods" ? { of, samples: { ok: false, error } } : { of, values: { ok: false, error } };

interface Given {
  readonly metrics: readonly Metric[];
  readonly readings: readonly Reading[];
  readonly pods: readonly core.Pod[];
  readonly replicas?: number;
  readonly min?: number;
  readonly max?: number;
  readonly status?: autoscaling.HorizontalPodAutoscalerStatus;
}

function deciding({ metrics, readings, pods, replicas = pods.length, min = 1, max = 10, status }: Given): Deciding {
  const spec = { scaleTargetRef: { kind: "Deployment", name: "web" }, minReplicas: min, maxReplicas: max, metrics };
  const hpa = { metadata: { name: "web", namespace: "default" }, spec, ...(status !== undefined && { status }) };
  const read: Readings = { ok: true, pods, readings };
  const scale = { specReplicas: replicas, statusReplicas: pods.length };
  return { hpa, scale, read, history: undefined, settings: AUTOSCALER_DEFAULTS, now: NOW };
}

const RRR = podsOf("RRR");
const conditionsText = (conditions: readonly autoscaling.HorizontalPodAutoscalerCondition[] = []) =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe("metrics of every source", () => {
  it.each<[name: string, metric: Metric, reading: Reading, replicas: number, says: string, current: object]>([
    [
      "Resource",
      cpu(),
      measured(RRR, 100, 100, 100),
      6,
      "cpu resource utilization (percentage of request)",
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 100, averageValue: "100m" } } },
    ],
    [
      "Resource, a value",
      memory("100"),
      measured(RRR, 200_000, 200_000, 200_000),
      6,
      "memory resource",
      { type: "Resource", resource: { name: "memory", current: { averageValue: "200" } } },
    ],
    [
      "ContainerResource",
      container,
      measured(RRR, 100, 100, 100),
      6,
      "cpu container resource utilization (percentage of request)",
      {
        type: "ContainerResource",
        containerResource: {
          name: "cpu",
          container: "main",
          current: { averageUtilization: 100, averageValue: "100m" },
        },
      },
    ],
    [
      "Pods",
      perPod,
      measured(RRR, 150_000, 150_000, 150_000),
      5,
      "pods metric hits",
      { type: "Pods", pods: { metric: { name: "hits" }, current: { averageValue: "150" } } },
    ],
    [
      "Object, a value",
      object({ type: "Value", value: "100" }),
      values(200_000),
      6,
      "Service metric hits",
      { type: "Object", object: { metric: { name: "hits" }, current: { value: "200" } } },
    ],
    [
      "Object, for each Pod",
      object({ type: "AverageValue", averageValue: "100" }),
      values(450_500),
      5,
      "external metric hits(nil)",
      { type: "Object", object: { current: { averageValue: "150167m" } } },
    ],
    [
      "External, a value",
      external({ type: "Value", value: "10" }, { matchLabels: { a: "b" } }),
      values(12_000, 8_000),
      6,
      "external metric queue(&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},})",
      { type: "External", external: { metric: { name: "queue" }, current: { value: "20" } } },
    ],
    [
      "External, for each Pod",
      external({ type: "AverageValue", averageValue: "10" }),
      values(51_000),
      6,
      "external metric queue(nil)",
      { type: "External", external: { current: { averageValue: "17" } } },
    ],
  ])("%s", (_name, metric, reading, replicas, says, current) => {
    const { rescale, status, events } = decide(deciding({ metrics: [metric], readings: [reading], pods: RRR }));
    expect(events).toEqual([]);
    expect(rescale).toMatchObject({ replicas, reason: `${says} above target` });
    expect(status.currentMetrics).toMatchObject([current]);
    expect(status.conditions?.find(({ type }) => type === "ScalingActive")).toMatchObject({
      status: "True",
      reason: "ValidMetricFound",
      message: `the HPA was able to successfully calculate a replica count from ${says}`,
    });
  });

  it.each<[name: string, metric: Metric, reading: Reading, reason: string, message: string, error: string]>([
    [
      "Resource",
      cpu(),
      broken("pods", "no metrics returned from resource metrics API"),
      "FailedGetResourceMetric",
      "failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API",
      "failed to get cpu resource metric value: ",
    ],
    [
      "Resource, a value",
      memory("1Gi"),
      broken("pods", "gone"),
      "FailedGetResourceMetric",
      "failed to get memory usage: unable to get metrics for resource memory: gone",
      "failed to get memory resource metric value: ",
    ],
    [
      "Resource without a target",
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } },
      measured(RRR, 1, 1, 1),
      "FailedGetResourceMetric",
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
      "failed to get cpu resource metric value: ",
    ],
    [
      "ContainerResource",
      container,
      broken("pods", "gone"),
      "FailedGetContainerResourceMetric",
      "failed to get cpu utilization: unable to get metrics for resource cpu: gone",
      "failed to get main container metric value: ",
    ],
    [
      "Pods",
      perPod,
      broken("pods", "gone"),
      "FailedGetPodsMetric",
      "unable to get metric hits: gone",
      "failed to get pods metric value: ",
    ],
    [
      "Object",
      object({ type: "Value", value: "1" }),
      broken("other", "gone"),
      "FailedGetObjectMetric",
      "unable to get metric hits: Service on default front/gone",
      "failed to get object metric value: ",
    ],
    [
      "External",
      external({ type: "Value", value: "1" }),
      broken("other", "gone"),
      "FailedGetExternalMetric",
      "unable to get external metric default/queue/nil: gone",
      "failed to get external metric queue: ",
    ],
    [
      "External, for each Pod",
      external({ type: "AverageValue", averageValue: "1" }),
      broken("other", "gone"),
      "FailedGetExternalMetric",
      "unable to get external metric default/queue/nil: gone",
      "failed to get queue external metric: ",
    ],
    [
      "an unknown source",
      { type: "Stars" },
      values(),
      "InvalidMetricSourceType",
      'unknown metric source type "Stars"',
      "",
    ],
  ])("%s fails", (_name, metric, reading, reason, message, error) => {
    const status = { desiredReplicas: 2, currentReplicas: 2 };
    const got = decide(deciding({ metrics: [metric], readings: [reading], pods: RRR, status }));
    const summary = `invalid metrics (1 invalid out of 1), first error is: ${error}${message}`;
    expect(got.rescale).toBeUndefined();
    expect(got.error).toBe(summary);
    expect(got.events).toEqual([
      { type: "Warning", reason, note: message },
      { type: "Warning", reason: "FailedComputeMetricsReplicas", note: summary },
    ]);
    expect(got.status).toMatchObject({ desiredReplicas: 2, currentReplicas: 3, currentMetrics: [{ type: "" }] });
    expect(got.status.conditions?.find(({ type }) => type === "ScalingActive")).toMatchObject({
      status: "False",
      reason,
      message: `the HPA was unable to compute the replica count: ${message}`,
    });
  });
});

describe("several metrics", () => {
  const failing = broken("other", "gone");
  const queue = external({ type: "Value", value: "10" });
  it.each<[name: string, given: Partial<Given>, want: number | undefined, reason: string]>([
    [
      "the highest counts",
      { metrics: [cpu(), perPod], readings: [measured(RRR, 50, 50, 50), measured(RRR, 200_000, 200_000, 200_000)] },
      6,
      "pods metric hits above target",
    ],
    [
      "one fails, the other wants more",
      { metrics: [queue, cpu()], readings: [failing, measured(RRR, 100, 100, 100)] },
      6,
      "cpu resource utilization (percentage of request) above target",
    ],
    [
      "one fails, the other wants less",
      { metrics: [queue, cpu()], readings: [failing, measured(RRR, 10, 10, 10)] },
      undefined,
      "False FailedGetExternalMetric",
    ],
    [
      "one fails, the other is content",
      { metrics: [queue, cpu()], readings: [failing, measured(RRR, 50, 50, 50)] },
      undefined,
      "True ValidMetricFound",
    ],
    [
      "all fail: the first is told",
      { metrics: [queue, cpu()], readings: [failing, broken("pods", "gone")] },
      undefined,
      "False FailedGetExternalMetric",
    ],
  ])("%s", (_name, given, want, reason) => {
    const { rescale, status } = decide(deciding({ metrics: [], readings: [], pods: RRR, ...given }));
    expect(rescale?.replicas).toBe(want);
    const active = status.conditions?.find(({ type }) => type === "ScalingActive");
    expect(rescale?.reason ?? `${active?.status} ${active?.reason}`).toBe(reason);
  });
});

describe("a decision", () => {
  const busy = { metrics: [cpu()], readings: [measured(RRR, 100, 100, 100)], pods: RRR };
  const calm = { ...busy, readings: [measured(RRR, 50, 50, 50)] };
  const idle = { ...busy, readings: [measured(RRR, 10, 10, 10)] };
  it.each<[name: string, given: Given, want: number | undefined, conditions: string[]]>([
    [
      "up",
      busy,
      6,
      [
        "AbleToScale=True ReadyForNewScale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=False DesiredWithinRange",
      ],
    ],
    [
      "nothing",
      calm,
      undefined,
      [
        "AbleToScale=True ReadyForNewScale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=False DesiredWithinRange",
      ],
    ],
    [
      "down waits: the present size is the first recommendation",
      idle,
      undefined,
      [
        "AbleToScale=True ScaleDownStabilized",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=False DesiredWithinRange",
      ],
    ],
    [
      "up to the maximum",
      { ...busy, max: 4 },
      4,
      [
        "AbleToScale=True ReadyForNewScale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=True TooManyReplicas",
      ],
    ],
    ["above the maximum", { ...busy, max: 2 }, 2, ["AbleToScale=True SucceededGetScale"]],
    ["below the minimum", { ...busy, min: 5 }, 5, ["AbleToScale=True SucceededGetScale"]],
    [
      "disabled by hand",
      { ...busy, replicas: 0 },
      undefined,
      ["AbleToScale=True SucceededGetScale", "ScalingActive=False ScalingDisabled"],
    ],
  ])("%s", (_name, given, want, conditions) => {
    const { rescale, status } = decide(deciding(given));
    expect(rescale?.replicas).toBe(want);
    expect(conditionsText(status.conditions)).toEqual(conditions);
    const { hpa, scale, settings } = deciding(given);
    expect(needsMetrics(hpa, scale, settings)).toBe(conditions.length === 3);
  });

  it("after the target was scaled", () => {
    const outcome = decide(deciding(busy)).rescale?.succeeded();
    expect(outcome?.event).toEqual({
      type: "Normal",
      reason: "SuccessfulRescale",
      note: "New size: 6; reason: cpu resource utilization (percentage of request) above target",
    });
    expect(outcome?.status).toMatchObject({ currentReplicas: 3, desiredReplicas: 6, lastScaleTime: TIME });
    expect(outcome?.status.conditions?.[0]).toEqual({
      type: "AbleToScale",
      status: "True",
      lastTransitionTime: TIME,
      reason: "SucceededRescale",
      message: "the HPA controller was able to update the target scale to 6",
    });
  });

  it("after it could not be scaled", () => {
    const status = { desiredReplicas: 3, lastScaleTime: timeAt(NOW - 5000) };
    const outcome = decide(deciding({ ...busy, status })).rescale?.failed("no");
    expect(outcome?.event).toEqual({
      type: "Warning",
      reason: "FailedRescale",
      note: "New size: 6; reason: cpu resource utilization (percentage of request) above target; error: no",
    });
    expect(outcome?.status).toMatchObject({ ...status, currentReplicas: 3 });
    expect(outcome?.status.conditions?.[0]).toMatchObject({
      status: "False",
      reason: "FailedUpdateScale",
      message: "the HPA controller was unable to update the target scale: no",
    });
  });

  describe("zero (HPAScaleToZero)", () => {
    const queue = external({ type: "Value", value: "10" });
    const settings = { ...AUTOSCALER_DEFAULTS, scaleToZero: true };
    const zero = (status: "True" | "False") => ({
      desiredReplicas: 0,
      conditions: [{ type: "ScaledToZero", status, reason: "x", message: "y" }],
    });
    const [mine, others] = [zero("True"), zero("False")];
    const above = "external metric queue(nil) above target";
    const below = "Current number of replicas below Spec.MinReplicas";

    it.each<[name: string, given: Partial<Given> & { gate?: boolean }, milli: number, want: string]>([
      ["from zero, as far as metrics say", { min: 0, status: mine }, 25_000, `3 ${above}`],
      ["from zero: a part is one", { min: 0, status: mine }, 1, `1 ${above}`],
      ["from zero, at most by four", { min: 0, status: mine, max: 20 }, 190_000, `4 ${above}`],
      ["nothing to do", { min: 0, status: mine }, 0, "unchanged"],
      ["switched off by hand", { min: 0 }, 25_000, "ScalingDisabled"],
      ["switched off by hand after it was scaled up", { min: 0, status: others }, 25_000, "ScalingDisabled"],
      ["without the gate", { min: 0, status: mine, gate: false }, 25_000, "ScalingDisabled"],
      ["with metrics of Pods alone", { min: 0, status: mine, metrics: [perPod] }, 25_000, "ScalingDisabled"],
      ["the minimum was raised: what metrics say", { min: 2, status: mine }, 35_000, `4 ${above}`],
      ["the minimum was raised: it counts", { min: 2, status: mine }, 0, `2 ${below}`],
      ["the minimum was raised: it counts with metrics", { min: 3, status: mine }, 15_000, `3 ${above}`],
      ["the minimum was raised without the gate", { min: 2, status: mine, gate: false }, 35_000, "ScalingDisabled"],
    ])("%s", (_name, { gate = true, ...given }, milli, want) => {
      const asked = deciding({ metrics: [queue], pods: [], readings: [values(milli)], ...given });
      const deliberated = { ...asked, settings: { ...settings, scaleToZero: gate } };
      const { rescale, status } = decide(deliberated);
      const active = status.conditions?.find(({ type }) => type === "ScalingActive");
      const unchanged = active?.status === "True" ? "unchanged" : active?.reason;
      expect(rescale === undefined ? unchanged : `${rescale.replicas} ${rescale.reason}`).toBe(want);
      expect(needsMetrics(asked.hpa, asked.scale, deliberated.settings)).toBe(want !== "ScalingDisabled");
    });

    const history = { recommendations: [{ replicas: 3, atMs: NOW }], added: [], removed: [] };
    const emptied = (given: Partial<Given>) => ({
      ...deciding({ metrics: [queue], pods: RRR, readings: [values(0)], min: 0, ...given }),
      now: NOW + 301_000,
      history,
    });
    it.each<[name: string, given: Deciding, want: string | undefined]>([
      ["to zero", { ...emptied({}), settings }, "True ScaledToZero the HPA controller scaled the workload to zero"],
      [
        "to another number",
        { ...emptied({ min: 1 }), settings },
        "False NotScaledToZero the HPA controller did not scale the workload to zero",
      ],
      [
        "up again",
        { ...deciding({ metrics: [queue], pods: [], readings: [values(25_000)], min: 0, status: mine }), settings },
        "False NotScaledToZero the HPA controller did not scale the workload to zero",
      ],
      ["without the gate", emptied({}), undefined],
    ])("a condition remembers who did it: %s", (_name, given, want) => {
      const { conditions = [] } = decide(given).rescale?.succeeded().status ?? {};
      const found = conditions.find(({ type }) => type === "ScaledToZero");
      expect(found && `${found.status} ${found.reason} ${found.message}`).toBe(want);
    });
  });

  it("the target cannot be found", () => {
    const { hpa } = deciding(busy);
    const before = {
      type: "AbleToScale",
      status: "True",
      reason: "x",
      message: "y",
      lastTransitionTime: "2020-01-01T00:00:00Z",
    };
    const got = targetFailed({ ...hpa, status: { desiredReplicas: 2, conditions: [before] } }, "no such thing", NOW);
    expect(got.events).toEqual([{ type: "Warning", reason: "FailedGetScale", note: "no such thing" }]);
    expect(got.status.conditions).toEqual([
      {
        type: "AbleToScale",
        status: "False",
        lastTransitionTime: TIME,
        reason: "FailedGetScale",
        message: "the HPA controller was unable to get the target's current scale: no such thing",
      },
    ]);
  });

  it("a condition that stays keeps its time", () => {
    const status = decide(deciding(calm)).status;
    const again = decide({ ...deciding({ ...calm, status }), now: NOW + 60_000 });
    expect(again.status).toEqual(status);
  });

  it("the selector is unusable", () => {
    const event = { type: "Warning" as const, reason: "SelectorRequired", note: "selector is required" };
    const read = {
      ok: false as const,
      reason: "InvalidSelector",
      message: "the HPA target's scale is missing a selector",
      event,
    };
    const got = decide({ ...deciding(calm), read });
    expect(got.events.map(({ reason }) => reason)).toEqual(["SelectorRequired", "FailedComputeMetricsReplicas"]);
    expect(conditionsText(got.status.conditions)[1]).toBe("ScalingActive=False InvalidSelector");
  });
});
