/**
 * Pods of one spec ask for another amount while a node has given them something else: each state of a pod is read as it
 * is.
 */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { podEvents } from "../cycle/object-changes.ts";
import { pod } from "../testing/index.ts";
import { PodInfos, ResourceNames } from "./index.ts";

const container = (cpu: string): core.Container => ({ name: "main", image: "web:1", resources: { requests: { cpu } } });
const sidecar = (cpu: string): core.Container => ({ ...container(cpu), name: "side", restartPolicy: "Always" });
const given = (name: string, cpu: string, allocated = cpu): core.ContainerStatus => ({
  name,
  image: "web:1",
  imageID: "",
  ready: true,
  restartCount: 0,
  resources: { requests: { cpu } },
  allocatedResources: { cpu: allocated },
});
const pending = (reason: string): core.PodCondition => ({ type: "PodResizePending", status: "True", reason });

interface Case {
  readonly name: string;
  readonly spec: Partial<core.PodSpec>;
  /** Its states, one after another, and the thousandths of a cpu that count in each. */
  readonly states: readonly (readonly [status: core.PodStatus, millis: number])[];
}

const cases: readonly Case[] = [
  {
    name: "a resize that waits, and one that can never be",
    spec: { containers: [container("100")] },
    states: [
      [{ containerStatuses: [given("main", "1")] }, 100_000],
      [{ containerStatuses: [given("main", "1")], conditions: [pending("Deferred")] }, 100_000],
      [{ containerStatuses: [given("main", "1")], conditions: [pending("Infeasible")] }, 1_000],
    ],
  },
  {
    name: "a container that gets less, step by step",
    spec: { containers: [container("1")] },
    states: [
      [{ containerStatuses: [given("main", "3")] }, 3_000],
      [{ containerStatuses: [given("main", "2", "1")] }, 2_000],
      [{ containerStatuses: [given("main", "1")] }, 1_000],
    ],
  },
  {
    name: "a sidecar that gets less",
    spec: { containers: [container("1")], initContainers: [sidecar("1")] },
    states: [
      [{ containerStatuses: [given("main", "1")], initContainerStatuses: [given("side", "4")] }, 5_000],
      [{ containerStatuses: [given("main", "1")], initContainerStatuses: [given("side", "1")] }, 2_000],
    ],
  },
  {
    name: "a pod that asks for all its containers",
    spec: { containers: [container("1")], resources: { requests: { cpu: "2" } } },
    states: [
      [{ resources: { requests: { cpu: "2" } }, allocatedResources: { cpu: "5" } }, 5_000],
      [{ resources: { requests: { cpu: "2" } }, allocatedResources: { cpu: "2" } }, 2_000],
    ],
  },
];

describe("what a pod asks for", () => {
  it.each(cases)("$name", ({ spec, states }) => {
    const infos = new PodInfos(new ResourceNames());
    const pods = states.map(([status]) => pod("p", { on: "n", spec, status: { phase: "Running", ...status } }));
    let before: ReturnType<PodInfos["of"]> | undefined;
    for (const [at, one] of pods.entries()) {
      before = infos.of(one, before);
      expect(before.ask.requests.map(({ amount }) => amount)).toEqual([states[at]?.[1]]);
      expect(before.ask.scored.cpu).toBe(states[at]?.[1]);
    }
    for (const [at, [, millis]] of states.entries()) {
      const [old, now, was] = [pods[at - 1], pods[at], states[at - 1]?.[1] ?? 0];
      if (old === undefined || now === undefined) continue;
      const actions = podEvents("AssignedPod", old, now).map(({ action }) => action);
      expect(actions).toEqual([millis < was ? "scaleDown" : "update"]);
    }
  });
});
