/** A pod fits where what it asks for is left. */
import { type core, isExtendedResource, parseQuantity, podRequests } from "#api";
import {
  definePlugin,
  type NodeAsk,
  type NodeInfo,
  PASS,
  type PluginFactory,
  PODS,
  type Request,
  ready,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";
import { amountOf } from "../snapshot/index.ts";
import { askedAmount, resourceScore, type ScoredResource } from "./resource-scores.ts";

const NAME = "NodeResourcesFit";
const rejections = rejectionsOf(NAME);
const NATIVE = new Set(["cpu", "memory", "ephemeral-storage"]);

export const nodeResourcesFit: PluginFactory = {
  name: NAME,
  make({ NodeResourcesFit: args }, { resources }) {
    const isIgnored = ({ name }: Request) =>
      isExtendedResource(name) &&
      (args.ignoredResources.includes(name) || args.ignoredResourceGroups.includes(name.split("/")[0] ?? ""));
    const score = resourceScore(args.scoringStrategy);
    return definePlugin<readonly Request[], readonly ScoredResource[]>({
      name: NAME,
      wakes: [
        { resource: "AssignedPod", actions: ["delete"] },
        {
          resource: "AssignedPod",
          actions: ["scaleDown"],
          hint: ({ ask }, event) => (hasLess(ask, event.old as core.Pod, event.new as core.Pod) ? "queue" : "skip"),
        },
        { resource: "TargetPod", actions: ["scaleDown"] },
        {
          resource: "Node",
          actions: ["add", "allocatable"],
          hint: ({ ask }, event) => {
            const [before, after] = [event.old, event.new] as [core.Node | undefined, core.Node | undefined];
            if (after === undefined || !couldFit(ask, after)) return "skip";
            return before === undefined || hasMore(ask, before, after) ? "queue" : "skip";
          },
        },
      ],
      filter: {
        reads: "node",
        prepare: ({ requests }) => ready(requests.filter((request) => !isIgnored(request))),
        check: (requests, node) => (fits(requests, node) ? PASS : shortage(requests, node)),
      },
      score: {
        reads: "node",
        prepare(ask) {
          const scored = args.scoringStrategy.resources.flatMap(({ name, weight }) => {
            const asked = askedAmount(ask, name);
            return asked === 0 && !NATIVE.has(name) ? [] : [{ name, weight, resource: resources.indexOf(name), asked }];
          });
          return scored.length === 0 ? SKIP : ready(scored);
        },
        of: score,
      },
    });
  },
};

function fits(requests: readonly Request[], { allocatable, requested, pods }: NodeInfo): boolean {
  if (pods.size + 1 > (allocatable[PODS] ?? 0)) return false;
  for (const { resource, amount } of requests) {
    if (amount > (allocatable[resource] ?? 0) - (requested[resource] ?? 0)) return false;
  }
  return true;
}

/** All that is missing. What even the empty node does not have, no eviction brings. */
function shortage(requests: readonly Request[], { allocatable, requested, pods }: NodeInfo) {
  const reasons = pods.size + 1 > (allocatable[PODS] ?? 0) ? ["Too many pods"] : [];
  let forever = false;
  for (const { resource, name, amount } of requests) {
    const capacity = allocatable[resource] ?? 0;
    if (amount <= capacity - (requested[resource] ?? 0)) continue;
    reasons.push(`Insufficient ${name}`);
    if (amount > capacity) forever = true;
  }
  return forever ? rejections.unresolvable(...reasons) : rejections.unschedulable(...reasons);
}

/** Whether a pod asks for less of something that is asked for here, too. */
function hasLess({ requests }: NodeAsk, old: core.Pod, pod: core.Pod): boolean {
  const [before, after] = [podRequests(old, { useStatus: true }), podRequests(pod, { useStatus: true })];
  return requests.some(({ name }) => {
    const [was, is] = [before[name], after[name]];
    return was !== undefined && (is === undefined ? 0 : amountOf(name, is)) < amountOf(name, was);
  });
}

function allocatableOf({ status }: core.Node, name: string): number {
  const text = status?.allocatable?.[name];
  return text === undefined ? 0 : amountOf(name, parseQuantity(text));
}

/** If nothing else were there. */
function couldFit({ requests }: NodeAsk, node: core.Node): boolean {
  return allocatableOf(node, "pods") >= 1 && requests.every(({ name, amount }) => amount <= allocatableOf(node, name));
}

function hasMore({ requests }: NodeAsk, before: core.Node, after: core.Node): boolean {
  return ["pods", ...requests.map(({ name }) => name)].some(
    (name) => allocatableOf(after, name) > allocatableOf(before, name),
  );
}
