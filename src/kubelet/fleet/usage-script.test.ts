import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { testFleet } from "./testing/index.ts";
import type { UsageQuestion } from "./usage.ts";
import { parseUsageScript, scriptedUsage } from "./usage-script.ts";

const MINUTE_MS = 60_000;
const pod = (name: string, app: string, namespace = "default"): core.Pod => ({
  metadata: { name, namespace, labels: { app } },
  spec: { containers: [{ name: "main" }] },
});
const RUNNING = [pod("web-1", "web"), pod("web-2", "web"), pod("web-3", "web", "other"), pod("db-1", "db")];
const RECORDED = "seconds,cpu,memory\n1700000000,100m,64Mi\n1700000060,50%,128Mi\n1700000120,0,64Mi\n";
const read = (file: string) => {
  if (file !== "load.csv") throw new Error(`${file} does not exist`);
  return RECORDED;
};

function usageAt(text: string, ms: number, question: Partial<UsageQuestion> = {}) {
  const rules = parseUsageScript(text, read);
  return scriptedUsage(
    () => rules,
    1_000_000,
  )({
    pod: pod("web-1", "web"),
    container: "main",
    requests: { cpu: "200m", memory: "100Mi" },
    ageMs: 0,
    now: 1_000_000 + ms,
    running: () => RUNNING,
    ...question,
  });
}

const MEBI = 1024 * 1024;

describe("a usage script", () => {
  it.each<[name: string, script: string, ms: number, want: object, question?: Partial<UsageQuestion>]>([
    ["a constant", "rules: [{cpu: 300m, memory: 10Mi}]", 0, { cpuMilli: 300, memoryBytes: 10 * MEBI }],
    ["a part of requests", "rules: [{cpu: 50%, memory: 25%}]", 0, { cpuMilli: 100, memoryBytes: 25 * MEBI }],
    ["a part of no request", "rules: [{cpu: 50%}]", 0, { cpuMilli: 0 }, { requests: {} }],
    ["steps, the first", 'rules: [{cpu: "0s=80m,2m=400m"}]', 2 * MINUTE_MS - 1, { cpuMilli: 80 }],
    ["steps, the second", 'rules: [{cpu: "0s=80m,2m=400m"}]', 2 * MINUTE_MS, { cpuMilli: 400 }],
    ["before the first step", 'rules: [{cpu: "1m=400m"}]', 0, { cpuMilli: 0 }],
    ["again and again", 'rules: [{cpu: "0s=1,1m=2", every: 2m}]', 4 * MINUTE_MS + 5, { cpuMilli: 1000 }],
    [
      "shared by the Pods that it is about",
      "rules: [{selector: app=web, cpu: 300m, shared: true}]",
      0,
      { cpuMilli: 100 },
    ],
    [
      "in one namespace",
      "rules: [{namespace: default, selector: app=web, cpu: 300m, shared: true}]",
      0,
      { cpuMilli: 150 },
    ],
    ["the first rule that fits", "rules: [{selector: app=db, cpu: 1}, {cpu: 2}, {cpu: 3}]", 0, { cpuMilli: 2000 }],
    ["of another container", "rules: [{container: other, cpu: 1}]", 0, {}],
    ["no rule fits", "rules: [{namespace: other, cpu: 1}]", 0, {}],
    ["a recording, its beginning", "rules: [{replay: load.csv}]", 0, { cpuMilli: 100, memoryBytes: 64 * MEBI }],
    ["a recording, a minute later", "rules: [{replay: load.csv}]", 90_000, { cpuMilli: 100, memoryBytes: 128 * MEBI }],
    ["a recording, its end", "rules: [{replay: load.csv}]", 10 * MINUTE_MS, { cpuMilli: 0, memoryBytes: 64 * MEBI }],
  ])("%s", (_name, script, ms, want, question) => expect(usageAt(script, ms, question)).toEqual(want));

  it.each([
    ["rules: 3", "rules: a list of rules is required"],
    ["- cpu: 1", "the file must be a mapping"],
    ["rules: []\nmore: 1", 'unknown field "more"'],
    ["rules: [{cpus: 1}]", 'rules[0]: unknown field "cpus"'],
    ["rules: [{cpu: much}]", 'rules[0]: cpu: "much" is not a quantity, a part of the request'],
    ["rules: [{cpu: 1}, {cpu: -1}]", "rules[1]: cpu: "],
    ["rules: [{selector: '=='}]", "rules[0]: "],
    ["rules: [{shared: maybe}]", "shared: it must be true or false"],
    ["rules: [{every: 0s}]", "every: it must be longer than nothing"],
    ["rules: [{replay: load.csv, cpu: 1}]", "either a recording, or cpu and memory"],
    ["rules: [{replay: gone.csv}]", "rules[0]: gone.csv does not exist"],
  ])("refuses %s", (text, problem) => expect(() => parseUsageScript(text, read)).toThrow(problem));

  it.each([
    ["time,cpu\n0,1", "its first line must name the columns seconds, and cpu or memory"],
    ["seconds,cpu\n0,1\nx,2", 'f:3: "x,2" is not a time with amounts'],
    ["seconds,cpu\n0,1\n9,many", "f:3: "],
    ["seconds,cpu\n9,1\n0,2", "its lines must be in order of time"],
  ])("refuses the recording %j", (text, problem) =>
    expect(() => parseUsageScript("rules: [{replay: f}]", () => text)).toThrow(problem),
  );

  it("decides for a fleet, over all of its nodes", async () => {
    const rules = parseUsageScript("rules: [{selector: app=web, cpu: 300m, shared: true}]", read);
    const fleet = await testFleet({ count: 2, usage: scriptedUsage(() => rules, 0) });
    const containers = [{ name: "c", image: "img" }];
    for (const at of [1, 2])
      await fleet.pod(`web-${at}`, { nodeName: `node-${at}`, containers }, { labels: { app: "web" } });
    await fleet.clock.advance(10_000);
    const seconds = () =>
      Number(
        /container_cpu_usage_seconds_total\{[^}]*pod="web-2"[^}]*\} (\S+)/.exec(
          fleet.fleet.resourceMetrics("node-2"),
        )?.[1],
      );
    const before = seconds();
    await fleet.clock.advance(20_000);
    expect(seconds() - before).toBeCloseTo(0.15 * 20, 5);
    await fleet.close();
  });
});
