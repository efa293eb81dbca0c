import { describe, expect, it } from "vitest";
import type { batch, core } from "#api";
import { podWith } from "../testing/index.ts";
import { COMPLETION_INDEX, TRACKING } from "./job-pod.ts";
import { viewOf } from "./job-view.ts";
import { populationOf } from "./population.ts";

const NOW = Date.UTC(2030, 0, 1);

interface Given {
  readonly name: string;
  readonly spec: Partial<batch.JobSpec>;
  /** By name: an index, or undefined; untracked ones are marked. */
  readonly pods: readonly core.Pod[];
  readonly remove?: readonly string[];
  readonly create?: readonly (number | undefined)[];
}

function pod(
  name: string,
  index?: number,
  facts: Parameters<typeof podWith>[1] & { untracked?: boolean } = {},
): core.Pod {
  const annotations = index === undefined ? {} : { [COMPLETION_INDEX]: String(index) };
  const made = podWith(name, { node: "n", ...facts, annotations });
  return facts.untracked === true ? made : { ...made, metadata: { ...made.metadata, finalizers: [TRACKING] } };
}

const indexed = { completionMode: "Indexed", parallelism: 3, completions: 3 } as const;
const cases: readonly Given[] = [
  {
    name: "what is missing is created",
    spec: { parallelism: 3, completions: 5 },
    pods: [pod("a")],
    create: [undefined, undefined],
  },
  {
    name: "no more than successes are missing",
    spec: { parallelism: 3, completions: 1 },
    pods: [],
    create: [undefined],
  },
  {
    name: "one that has not started goes before one that runs",
    spec: { parallelism: 1, completions: 5 },
    pods: [pod("a"), pod("b", undefined, { phase: "Pending" })],
    remove: ["b"],
  },
  {
    name: "one that nothing tracks goes first",
    spec: { parallelism: 1, completions: 5 },
    pods: [pod("a", undefined, { phase: "Pending" }), pod("b", undefined, { untracked: true })],
    remove: ["b"],
  },
  {
    name: "all go while it is suspended",
    spec: { parallelism: 2, suspend: true },
    pods: [pod("a"), pod("b")],
    remove: ["a", "b"],
  },
  { name: "indexes that nobody has", spec: indexed, pods: [pod("a", 1)], create: [0, 2] },
  {
    name: "one of two that share an index goes",
    spec: indexed,
    pods: [pod("a", 0), pod("b", 0, { ready: false }), pod("c", 1)],
    remove: ["b"],
  },
  {
    name: "one without an index, or beyond them, goes",
    spec: indexed,
    pods: [pod("a"), pod("b", 3), pod("c", 1)],
    remove: ["a", "b"],
  },
  {
    name: "an index whose Pod ends is taken anew",
    spec: indexed,
    pods: [pod("a", 0, { ending: true, untracked: true }), pod("b", 1), pod("c", 2)],
    create: [0],
  },
  {
    name: "or waits for it, where it is asked to",
    spec: { ...indexed, podReplacementPolicy: "Failed" },
    pods: [pod("a", 0, { ending: true }), pod("b", 1), pod("c", 2)],
  },
];

describe("the Pods of a Job", () => {
  it.each(cases)("$name", ({ spec, pods, remove = [], create = [] }) => {
    const job = { metadata: { name: "work" }, spec: { template: {}, ...spec } };
    const population = populationOf(viewOf(job, pods, NOW + 3600_000));
    expect({
      remove: population.remove.map(({ metadata }) => metadata.name),
      create: population.create,
    }).toEqual({ remove, create });
  });
});
