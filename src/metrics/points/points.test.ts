import { describe, expect, it } from "vitest";
import { parseResourceMetrics } from "./parse.ts";
import type { NodePoints, Point } from "./point.ts";
import { PointStorage } from "./storage.ts";
import { usageBetween } from "./usage.ts";

const NOW = 1_000_000;

describe("a kubelet's text", () => {
  const web = 'container="main",namespace="default",pod="web"';
  it.each<[name: string, lines: string[], node: string, pods: string]>([
    ["nothing", [], "-", ""],
    [
      "a node",
      ["node_cpu_usage_seconds_total 2.5 990000", "node_memory_working_set_bytes 4096 990001"],
      "2500000000 4096 990000",
      "",
    ],
    [
      "without a time",
      ["node_cpu_usage_seconds_total 1", "node_memory_working_set_bytes 1"],
      "1000000000 1 1000000",
      "",
    ],
    ["half a node", ["node_cpu_usage_seconds_total 2.5 990000"], "-", ""],
    [
      "a container",
      [
        `container_cpu_usage_seconds_total{${web}} 1.5 980000`,
        `container_memory_working_set_bytes{${web}} 2.097152e+06 980000`,
        `container_start_time_seconds{${web}} 900.5`,
      ],
      "-",
      "default/web main 1500000000 2097152 980000 900500",
    ],
    [
      "a container without memory",
      [`container_cpu_usage_seconds_total{${web}} 1.5 980000`, `container_start_time_seconds{${web}} 900`],
      "-",
      "",
    ],
    [
      "a container that has used nothing yet",
      [`container_cpu_usage_seconds_total{${web}} 0 980000`, `container_memory_working_set_bytes{${web}} 5 980000`],
      "-",
      "",
    ],
    [
      "one container of two is incomplete",
      [
        `container_cpu_usage_seconds_total{${web}} 1 980000`,
        `container_memory_working_set_bytes{${web}} 5 980000`,
        'container_cpu_usage_seconds_total{container="other",namespace="default",pod="web"} 1 980000',
      ],
      "-",
      "",
    ],
    [
      "comments and other metrics",
      ["# HELP node_cpu_usage_seconds_total x", 'pod_cpu_usage_seconds_total{pod="a"} 1', "junk"],
      "-",
      "",
    ],
  ])("%s", (_name, lines, node, pods) => {
    const got = parseResourceMetrics(`${lines.join("\n")}\n`, NOW);
    const text = (point: Point | undefined) =>
      point === undefined ? "-" : `${point.cpuNanoSeconds} ${point.memoryBytes} ${point.atMs}`;
    expect(text(got.node)).toBe(node);
    const shown = [...got.pods].flatMap(([pod, containers]) =>
      [...containers].map(([name, point]) => `${pod} ${name} ${text(point)} ${point.startedAtMs}`),
    );
    expect(shown.join("; ")).toBe(pods);
  });
});

const point = (atSeconds: number, cpuSeconds: number, startedSeconds = 0, memoryBytes = 100): Point => ({
  atMs: atSeconds * 1000,
  cpuNanoSeconds: cpuSeconds * 1e9,
  startedAtMs: startedSeconds * 1000,
  memoryBytes,
});

describe("usage between two points", () => {
  it.each<[name: string, before: Point, last: Point, want: string | undefined]>([
    ["half a core", point(100, 10), point(110, 15), "500000000 100 10000"],
    ["nothing", point(100, 10), point(115, 10), "0 100 15000"],
    ["a part of a nanocore is cut", point(0, 0), point(3, 1e-9), "0 100 3000"],
    ["the counter went back", point(100, 10), point(110, 5), undefined],
    ["it started earlier than before", point(100, 10, 50), point(110, 15, 40), undefined],
    ["no time has passed", point(100, 10), point(100, 11), undefined],
  ])("%s", (_name, before, last, want) => {
    const got = usageBetween(before, last);
    expect(got && `${got.cpuNanoCores} ${got.memoryBytes} ${got.windowMs}`).toBe(want);
  });
});

describe("what is stored", () => {
  const round = (node: Point | undefined, containers: Readonly<Record<string, Point>> = {}) =>
    new Map<string, NodePoints>([
      [
        "n",
        {
          node,
          pods: new Map(
            Object.keys(containers).length === 0 ? [] : [["default/web", new Map(Object.entries(containers))]],
          ),
        },
      ],
    ]);
  it.each<[name: string, rounds: ReadonlyMap<string, NodePoints>[], node: number | undefined, pod: string | undefined]>(
    [
      ["once is not enough", [round(point(100, 1), { a: point(100, 1) })], undefined, undefined],
      [
        "twice is",
        [round(point(100, 1), { a: point(100, 1) }), round(point(110, 2), { a: point(110, 6) })],
        1e8,
        "a=500000000 10000",
      ],
      ["the last two count", [round(point(90, 0)), round(point(100, 1)), round(point(110, 3))], 2e8, undefined],
      ["the same point again", [round(point(100, 1)), round(point(110, 2)), round(point(110, 2))], 1e8, undefined],
      ["a node that did not answer", [round(point(100, 1)), new Map(), round(point(110, 2))], undefined, undefined],
      [
        "a container started again",
        [round(undefined, { a: point(100, 9) }), round(undefined, { a: point(130, 1, 101) })],
        undefined,
        undefined,
      ],
      [
        "a new container begins with nothing",
        [round(undefined, { a: point(100, 5, 90) })],
        undefined,
        "a=500000000 10000",
      ],
      ["one that is too new", [round(undefined, { a: point(100, 1, 99) })], undefined, undefined],
      [
        "a container has been added",
        [round(undefined, { a: point(100, 1) }), round(undefined, { a: point(110, 2), b: point(110, 1) })],
        undefined,
        undefined,
      ],
      [
        "two containers: the time of the earlier one",
        [
          round(undefined, { a: point(100, 1), b: point(101, 1) }),
          round(undefined, { a: point(112, 2), b: point(111, 2) }),
        ],
        undefined,
        "a=83333333 b=100000000 10000",
      ],
      [
        "one of them went back",
        [
          round(undefined, { a: point(100, 1), b: point(100, 5) }),
          round(undefined, { a: point(110, 2), b: point(110, 2) }),
        ],
        undefined,
        "a=100000000 10000",
      ],
    ],
  )("%s", (_name, rounds, node, pod) => {
    const storage = new PointStorage(15_000);
    for (const each of rounds) storage.store(each);
    expect(storage.node("n")?.cpuNanoCores).toBe(node);
    const got = storage.pod("default", "web");
    const shown = got?.containers.map(({ name, usage }) => `${name}=${usage.cpuNanoCores}`).join(" ");
    expect(got && `${shown} ${got.windowMs}`).toBe(pod);
  });
});
