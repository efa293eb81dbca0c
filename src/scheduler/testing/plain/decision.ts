/**
 * One decision in the slow and obvious form: every plugin checks every node.
 *
 * 1. A node is feasible if no plugin rejects it. All rejections are returned, not only the first.
 * 2. Scores are those of feasible nodes: normalized among them, weighted, added up.
 */
import type { core } from "#api";
import { DEFAULT_ARGUMENTS, type PluginArguments } from "../../framework/index.ts";
import { balancedAllocation } from "./balanced-allocation.ts";
import { nameOf, type PlainCluster, type PlainFailure, type PlainPlugin, type PlainQuestion } from "./cluster.ts";
import { imageLocality } from "./image-locality.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";
import { nodeAffinity } from "./node-affinity.ts";
import { nodeName } from "./node-name.ts";
import { nodePorts } from "./node-ports.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";
import { nodeVolumeLimits } from "./node-volume-limits.ts";
import { podTopologySpread } from "./pod-topology-spread.ts";
import { taintToleration } from "./taint-toleration.ts";
import { volumeBinding } from "./volume-binding.ts";
import { volumeRestrictions } from "./volume-restrictions.ts";
import { volumeZone } from "./volume-zone.ts";

/** In the order of kube-scheduler. */
export const PLAIN_PLUGINS: readonly PlainPlugin[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  balancedAllocation,
  imageLocality,
];

export interface PlainProfile {
  /** Absent: all. */
  readonly plugins?: ReadonlySet<string>;
  /** Weights of the scores; plugins without one do not score. */
  readonly weights: Readonly<Record<string, number>>;
  readonly args: PluginArguments;
}

export const DEFAULT_PROFILE: PlainProfile = {
  weights: {
    TaintToleration: 3,
    NodeAffinity: 2,
    NodeResourcesFit: 1,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    NodeResourcesBalancedAllocation: 1,
    ImageLocality: 1,
  },
  args: DEFAULT_ARGUMENTS,
};

export interface PlainScore {
  /** Weighted, by plugin; 0 if a plugin does not apply. */
  readonly byPlugin: ReadonlyMap<string, number>;
  readonly total: number;
}

export interface PlainDecision {
  /** Rejections before any node was checked: then no node is feasible. */
  readonly preFilter?: { readonly plugin: string } & PlainFailure;
  /** Rejections by node; none if it is feasible. */
  readonly failures: ReadonlyMap<string, ReadonlyMap<string, PlainFailure>>;
  readonly feasible: readonly string[];
  readonly scores: ReadonlyMap<string, PlainScore>;
}

export function plainDecision(
  pod: core.Pod,
  cluster: PlainCluster,
  profile: PlainProfile = DEFAULT_PROFILE,
): PlainDecision {
  const question: PlainQuestion = { pod, cluster, args: profile.args };
  const plugins = PLAIN_PLUGINS.filter(({ name }) => profile.plugins?.has(name) ?? true);
  for (const plugin of plugins) {
    const failure = plugin.preFilter?.(question);
    if (failure !== undefined)
      return {
        preFilter: { plugin: plugin.name, ...failure },
        failures: new Map(),
        feasible: [],
        scores: new Map(),
      };
  }
  const failures = new Map(cluster.nodes.map((node) => [nameOf(node), failuresOn(node, question, plugins)]));
  const feasible = cluster.nodes.filter((node) => failures.get(nameOf(node))?.size === 0);
  return { failures, feasible: feasible.map(nameOf), scores: scoresOf(feasible, question, plugins, profile) };
}

function failuresOn(
  node: core.Node,
  question: PlainQuestion,
  plugins: readonly PlainPlugin[],
): ReadonlyMap<string, PlainFailure> {
  const found = new Map<string, PlainFailure>();
  for (const plugin of plugins) {
    const failure = plugin.filter?.(question, node);
    if (failure !== undefined) found.set(plugin.name, failure);
  }
  return found;
}

function scoresOf(
  feasible: readonly core.Node[],
  question: PlainQuestion,
  plugins: readonly PlainPlugin[],
  { weights }: PlainProfile,
): ReadonlyMap<string, PlainScore> {
  const byPlugin = plugins.flatMap((plugin) => {
    const weight = weights[plugin.name];
    if (weight === undefined || plugin.score === undefined) return [];
    return [{ name: plugin.name, weight, scores: plugin.score(question, feasible) }];
  });
  return new Map(
    feasible.map((node) => {
      const own = byPlugin.map(({ name, weight, scores }): [string, number] => [
        name,
        weight * (scores?.get(nameOf(node)) ?? 0),
      ]);
      return [nameOf(node), { byPlugin: new Map(own), total: own.reduce((sum, [, score]) => sum + score, 0) }];
    }),
  );
}
