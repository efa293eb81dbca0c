import { describe, expect, it } from "vitest";
import type { core, schedulingV1alpha2 } from "#api";
import { headline } from "./answer.ts";
import { whyGroup } from "./why-group.ts";

const pod = (name: string, cpu: string, more: Partial<core.PodSpec> = {}): core.Pod => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...more },
});
const gang = (minCount: number, message?: string): schedulingV1alpha2.PodGroup => ({
  metadata: { name: "g" },
  spec: { schedulingPolicy: { gang: { minCount } } },
  ...(message !== undefined && {
    status: {
      conditions: [
        {
          type: "PodGroupScheduled",
          status: "False" as const,
          reason: "Unschedulable",
          message,
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  }),
});
const members = [pod("a", "1"), pod("b", "1"), pod("c", "1")];
const lack = "pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0 remaining";
const misfit = "0/3 nodes are available: 3 Insufficient cpu.";

describe("the group of a Pod that waits", () => {
  it.each<{ name: string; facts: Partial<Parameters<typeof whyGroup>[0]>; cause: string | undefined; help?: string }>([
    { name: "does not exist", facts: { group: undefined }, cause: "it does not exist", help: "create the PodGroup g" },
    {
      name: "lacks Pods",
      facts: { group: gang(5) },
      cause: "3 of at least 5 Pods exist",
      help: "create 2 more Pods with spec.schedulingGroup.podGroupName: g",
    },
    { name: "is complete and was not tried yet", facts: { group: gang(3) }, cause: undefined },
    {
      name: "has a Pod that does not fit",
      facts: { group: gang(3, `${lack}; default/c: ${misfit}`) },
      cause: `2 of at least 3 Pods fit; default/c does not: ${misfit}`,
      help: "what would free a place: the end of pod default/small on n2",
    },
    {
      name: "waits for a preemption",
      facts: { group: gang(3, "pod group is waiting for preemption to complete") },
      cause: "pod group is waiting for preemption to complete",
    },
  ])("$name", ({ facts, cause, help }) => {
    const placed = [
      pod("vip", "8", { nodeName: "n1", priority: 100 }),
      pod("small", "1", { nodeName: "n2" }),
      pod("tiny", "100m", { nodeName: "n3" }),
      { ...pod("a", "1"), spec: { containers: [], nodeName: "n4" } },
    ];
    const found = whyGroup({ name: "g", group: undefined, members, placed, ...facts });
    expect(found && headline(found)).toBe(cause === undefined ? undefined : `podgroup/g: ${cause}`);
    if (help !== undefined) expect(found?.help).toContain(help);
    if (help?.includes("free") === true) {
      expect(found?.because.map(({ text }) => text)).toContain(
        "the place is held by pod default/small on n2, pod default/tiny on n3, pod default/vip on n1",
      );
    }
  });
});
