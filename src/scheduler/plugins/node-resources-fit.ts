/** NodeResourcesFit: a pod fits if its requests fit into the free resources; scores by the configured strategy. */
import { type core, isExtendedResource, parseQuantity, podRequests } from "#api";
import {
  definePlugin,
  MAX_SCORE,
  type NodeAsk,
  type NodeInfo,
  PASS,
  type PluginFactory,
  PODS,
  type Rejection,
  type Rejections,
  type Request,
  ready,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";
import { amountOf } from "../snapshot/index.ts";
import { BackedResources } from "./backed-resources.ts";
import { askedAmount, resourceScore, type ScoredResource } from "./resource-scores.ts";

const NAME = "NodeResourcesFit";
const NATIVE = new Set(["cpu", "memory", "ephemeral-storage"]);

export const nodeResourcesFit: PluginFactory = {
  name: NAME,
  make({ NodeResourcesFit: args }, { resources, informers, enabled }) {
    const backed = new BackedResources(informers, enabled("DRAExtendedResource"));
    // DynamicResources decides about what devices provide on this node.
    const isBacked: IsBacked = ({ name, resource }, { allocatable }) =>
      (allocatable[resource] ?? 0) === 0 && backed.classFor(name) !== undefined;
    const isIgnored = ({ name }: Request) =>
      isExtendedResource(name) &&
      (args.ignoredResources.includes(name) || args.ignoredResourceGroups.includes(name.split("/")[0] ?? ""));
    const backs = ({ requests }: NodeAsk) => requests.some(({ name }) => backed.classFor(name) !== undefined);
    const couldFitOn = (ask: NodeAsk, node: core.Node) =>
      couldFit(ask, node) || (backs(ask) && allocatableOf(node, "pods") >= 1);
    const rejections = rejectionsOf(NAME);
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
        { resource: "DeviceClass", actions: ["add", "update"], hint: ({ ask }) => (backs(ask) ? "queue" : "skip") },
        {
          resource: "Node",
          actions: ["add", "allocatable"],
          hint: ({ ask }, event) => {
            const [before, after] = [event.old, event.new] as [core.Node | undefined, core.Node | undefined];
            if (after === undefined || !couldFitOn(ask, after)) return "skip";
            return before === undefined || hasMore(ask, before, after) ? "queue" : "skip";
          },
        },
      ],
      filter: {
        reads: "node",
        prepare: ({ requests }) => ready(requests.filter((request) => !isIgnored(request))),
        check: (requests, node) =>
          fits(requests, node, isBacked) ? PASS : shortage(requests, node, rejections, isBacked),
        epoch: () => backed.epoch,
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
      scorePlacement: ({ nodes }) =>
        fullness(
          nodes,
          args.scoringStrategy.resources.map(({ name, weight }) => ({ weight, resource: resources.indexOf(name) })),
        ),
    });
  },
};

/** How full all nodes of a placement are together: packing leaves whole domains to others. */
function fullness(
  nodes: readonly NodeInfo[],
  scored: readonly { readonly weight: number; readonly resource: number }[],
): number {
  let [sum, weights] = [0, 0];
  for (const { weight, resource } of scored) {
    let [used, capacity] = [0, 0];
    for (const { allocatable, requested } of nodes) {
      used += requested[resource] ?? 0;
      capacity += allocatable[resource] ?? 0;
    }
    if (capacity === 0) continue;
    sum += weight * Math.trunc((Math.min(used, capacity) * MAX_SCORE) / capacity);
    weights += weight;
  }
  return weights === 0 ? 0 : Math.trunc(sum / weights);
}

type IsBacked = (request: Request, node: NodeInfo) => boolean;

function fits(requests: readonly Request[], node: NodeInfo, isBacked: IsBacked): boolean {
  const { allocatable, requested, pods } = node;
  if (pods.size + 1 > (allocatable[PODS] ?? 0)) return false;
  for (const request of requests) {
    const { resource, amount } = request;
    if (amount > (allocatable[resource] ?? 0) - (requested[resource] ?? 0) && !isBacked(request, node)) return false;
  }
  return true;
}

/** All missing resources. Unresolvable if even the empty node would not have enough. */
function shortage(requests: readonly Request[], node: NodeInfo, rejections: Rejections, isBacked: IsBacked): Rejection {
  const { allocatable, requested, pods } = node;
  const reasons = pods.size + 1 > (allocatable[PODS] ?? 0) ? ["Too many pods"] : [];
  let isUnresolvable = false;
  for (const request of requests) {
    const { resource, name, amount } = request;
    const capacity = allocatable[resource] ?? 0;
    if (amount <= capacity - (requested[resource] ?? 0) || isBacked(request, node)) continue;
    reasons.push(`Insufficient ${name}`);
    if (amount > capacity) isUnresolvable = true;
  }
  return isUnresolvable ? rejections.unresolvable(...reasons) : rejections.unschedulable(...reasons);
}

/** Whether a pod has reduced a request for a resource that this ask needs. */
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

/** Whether the ask fits into the empty node. */
function couldFit({ requests }: NodeAsk, node: core.Node): boolean {
  return allocatableOf(node, "pods") >= 1 && requests.every(({ name, amount }) => amount <= allocatableOf(node, name));
}

function hasMore({ requests }: NodeAsk, before: core.Node, after: core.Node): boolean {
  return ["pods", ...requests.map(({ name }) => name)].some(
    (name) => allocatableOf(after, name) > allocatableOf(before, name),
  );
}
