import { expect, it } from "vitest";
import type { core } from "#api";
import { type DrainFlags, planDrain } from "./drain-plan.ts";

const pod = (name: string, change: Partial<core.Pod> = {}, owner?: string): core.Pod => ({
  ...change,
  metadata: {
    name,
    namespace: "ns",
    ...change.metadata,
    ...(owner !== undefined && {
      ownerReferences: [{ apiVersion: "apps/v1", kind: owner, name: "own", uid: "u", controller: true }],
    }),
  },
});
const local = { spec: { containers: [], volumes: [{ name: "v", emptyDir: {} }] } };
const no: DrainFlags = { ignoreDaemonsets: false, deleteEmptydirData: false, force: false };

it.each<{
  name: string;
  pods: readonly core.Pod[];
  flags?: Partial<DrainFlags>;
  evict?: string;
  ignored?: string;
  problems?: readonly string[];
}>([
  { name: "Pods of a controller go", pods: [pod("a", {}, "ReplicaSet")], evict: "a" },
  {
    name: "mirror Pods stay",
    pods: [pod("a", { metadata: { name: "a", annotations: { "kubernetes.io/config.mirror": "x" } } })],
  },
  {
    name: "Pods of a DaemonSet are in the way",
    pods: [pod("a", {}, "DaemonSet")],
    problems: ["cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to override): ns/a."],
  },
  { name: "or stay", pods: [pod("a", {}, "DaemonSet")], flags: { ignoreDaemonsets: true }, ignored: "ns/a" },
  {
    name: "a lone Pod with local data is in the way twice",
    pods: [pod("a", local)],
    evict: "a",
    problems: [
      "cannot delete Pods with local storage (use --delete-emptydir-data to override): ns/a.",
      "cannot delete Pods that declare no controller (use --force to override): ns/a.",
    ],
  },
  { name: "or goes", pods: [pod("a", local)], flags: { deleteEmptydirData: true, force: true }, evict: "a" },
  {
    name: "one that has finished goes anyway",
    pods: [pod("a", { ...local, status: { phase: "Failed" } })],
    evict: "a",
  },
])("$name", ({ pods, flags = {}, evict = "", ignored = "", problems = [] }) => {
  const plan = planDrain(pods, new Set(["ns/own"]), { ...no, ...flags });
  expect(plan.evict.map(({ metadata }) => metadata?.name).join()).toBe(evict);
  expect(plan.ignored.join()).toBe(ignored);
  expect(plan.problems).toEqual(problems);
});
