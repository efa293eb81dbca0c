/** History, charts, usage, autoscalers and volumes, as tables. */
import { describe, expect, it } from "vitest";
import type { autoscaling } from "#api";
import { autoscalerState, metricsOf, metricsText, pastSizes } from "./autoscaler.ts";
import { areaOf, pathOf, rounded, scaleOf } from "./chart.ts";
import { History } from "./history.ts";
import { podsByWorkload, roundOf } from "./usage.ts";
import { claimState, podsUsing, volumeState } from "./volume.ts";

describe("history", () => {
  it("keeps the newest points, and forgets what is gone", () => {
    const history = new History(3);
    for (const at of [1, 2, 3, 4]) history.add(at, new Map([["a", at * 10], ...(at < 4 ? [["b", 1] as const] : [])]));
    expect(history.of("a")).toEqual([2, 3, 4].map((atMs) => ({ atMs, value: atMs * 10 })));
    expect([history.of("b"), history.last("a"), history.last("b"), history.size]).toEqual([[], 40, undefined, 1]);
  });

  it("sums moment by moment", () => {
    const history = new History(5);
    history.add(1, new Map([["a", 1]]));
    history.add(
      2,
      new Map([
        ["a", 1],
        ["b", 2],
      ]),
    );
    expect(history.sum(["a", "b", "c"])).toEqual([
      { atMs: 1, value: 1 },
      { atMs: 2, value: 3 },
    ]);
  });
});

describe("charts", () => {
  it.each([
    [0, 1],
    [0.07, 0.1],
    [0.2, 0.2],
    [3, 5],
    [50, 50],
    [51, 100],
    [101, 200],
  ])("%d is below %d", (value, want) => expect(rounded(value)).toBeCloseTo(want));

  it("fill their box", () => {
    const points = [
      { atMs: 0, value: 0 },
      { atMs: 10, value: 5 },
      { atMs: 20, value: 10 },
    ];
    const box = { width: 100, height: 20 };
    const scale = scaleOf([points]);
    expect(pathOf(points, scale, box)).toBe("M0 20L50 10L100 0");
    expect(pathOf(points, scale, box, true)).toBe("M0 20H50V10H100V0");
    expect(areaOf(points, scale, box)).toBe("M0 20L50 10L100 0L100 20L0 20Z");
    expect(areaOf([], scaleOf([[]]), box)).toBe("");
  });
});

it("usage of Pods is that of their containers, and belongs to the workload at the top", () => {
  const { cpu, memory } = roundOf(
    [{ metadata: { name: "n" }, usage: { cpu: "1500m", memory: "1Mi" } }],
    [
      {
        metadata: { name: "p", namespace: "d" },
        containers: [{ usage: { cpu: "100m" } }, { usage: { cpu: "50m", memory: "2Ki" } }],
      },
    ],
  );
  expect([...cpu]).toEqual([
    ["n", 1.5],
    ["d/p", expect.closeTo(0.15)],
  ]);
  expect(memory.get("d/p")).toBe(2048);
  const owned = (name: string, uid: string, owner?: string) => ({
    metadata: {
      name,
      namespace: "d",
      uid,
      ...(owner !== undefined && { ownerReferences: [{ uid: owner, controller: true }] }),
    },
  });
  const sets = [owned("rs", "rs", "deployment")];
  const pods = [owned("a", "1", "rs"), owned("b", "2", "stateful"), owned("c", "3")];
  expect([...podsByWorkload(pods, sets)]).toEqual([
    ["deployment", ["d/a"]],
    ["stateful", ["d/b"]],
  ]);
});

describe("autoscalers", () => {
  const hpa = (
    status: autoscaling.HorizontalPodAutoscalerStatus = { desiredReplicas: 0 },
  ): autoscaling.HorizontalPodAutoscaler => ({
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { kind: "Deployment", name: "web" },
      maxReplicas: 4,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
        {
          type: "External",
          external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "500m" } },
        },
      ],
    },
    status,
  });
  const currentMetrics: autoscaling.MetricStatus[] = [
    { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 90, averageValue: "90m" } } },
    { type: "External", external: { metric: { name: "queue" }, current: { averageValue: "2" } } },
  ];

  it("have figures by metric", () => {
    expect(metricsText(hpa())).toBe("cpu: unknown / 50%, queue: unknown / 500m");
    expect(metricsText(hpa({ desiredReplicas: 1, currentMetrics }))).toBe("cpu: 90% / 50%, queue: 2 / 500m");
    expect(metricsOf(hpa({ desiredReplicas: 1, currentMetrics }))[1]).toMatchObject({
      current: 2,
      target: 0.5,
      unit: "",
    });
  });

  const condition = (type: string, status: string, reason: string) => ({ type, status, reason });
  it.each([
    [[], "not seen yet", "busy"],
    [[condition("AbleToScale", "False", "FailedGetScale")], "FailedGetScale", "bad"],
    [
      [condition("AbleToScale", "True", "x"), condition("ScalingActive", "False", "ScalingDisabled")],
      "ScalingDisabled",
      "quiet",
    ],
    [
      [condition("AbleToScale", "True", "x"), condition("ScalingLimited", "True", "TooManyReplicas")],
      "TooManyReplicas",
      "busy",
    ],
    [[condition("AbleToScale", "True", "ScaleDownStabilized")], "held by its window", "busy"],
    [[condition("AbleToScale", "True", "ReadyForNewScale")], "as wanted", "good"],
  ])("%j: %s", (conditions, word, tone) =>
    expect(autoscalerState(hpa({ desiredReplicas: 1, conditions }))).toEqual({ word, tone }),
  );

  it("have had sizes", () =>
    expect(
      pastSizes([
        {
          reason: "SuccessfulRescale",
          message: "New size: 4; reason: x",
          lastTimestamp: "1970-01-01T00:00:02Z",
          metadata: {},
        },
        { reason: "FailedGetScale", message: "no", lastTimestamp: "1970-01-01T00:00:03Z", metadata: {} },
        {
          reason: "SuccessfulRescale",
          message: "New size: 2; reason: x",
          eventTime: "1970-01-01T00:00:01Z",
          metadata: {},
        },
      ]),
    ).toEqual([
      { atMs: 1000, value: 2 },
      { atMs: 2000, value: 4 },
    ]));
});

describe("claims and volumes", () => {
  it.each([
    [{ phase: "Pending" } as const, "1Gi", "Pending"],
    [{ phase: "Bound", capacity: { storage: "1Gi" } } as const, "1Gi", "Bound"],
    [{ phase: "Bound", capacity: { storage: "1Gi" } } as const, "2Gi", "Bound, growing"],
    [{ phase: "Bound", allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } } as const, "2Gi", "cannot grow"],
    [{ phase: "Lost" } as const, "1Gi", "Lost"],
  ])("%j of %s: %s", (status, storage, word) =>
    expect(claimState({ metadata: {}, spec: { resources: { requests: { storage } } }, status }).word).toBe(word),
  );

  it("a failed volume is bad", () =>
    expect(volumeState({ metadata: {}, status: { phase: "Failed" } })).toEqual({ word: "Failed", tone: "bad" }));

  it("Pods use claims by name, or as ephemeral volumes", () => {
    const pod = (name: string, volume: object, phase: "Running" | "Succeeded" = "Running") => ({
      metadata: { name, namespace: "d" },
      spec: { containers: [], volumes: [{ name: "v", ...volume }] },
      status: { phase },
    });
    const named = { persistentVolumeClaim: { claimName: "a-v" } };
    const pods = [
      pod("a", { ephemeral: {} }),
      pod("b", named),
      pod("c", named, "Succeeded"),
      pod("d", { emptyDir: {} }),
    ];
    expect(podsUsing(pods, "d", "a-v").map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    expect(podsUsing(pods, "other", "a-v")).toEqual([]);
  });
});
