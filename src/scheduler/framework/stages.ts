/** A profile with its constructed plugins, by stage and in execution order. */
import type { ClusterFilter, ClusterScore, NodeFilter, NodeScore, Plugin } from "./plugin.ts";
import {
  ConfigurationError,
  type ExtensionPoint,
  type PluginContext,
  type PluginFactory,
  type Profile,
} from "./profile.ts";

export interface FilterUse<Stage> {
  readonly plugin: Plugin;
  readonly stage: Stage;
  /** False: the plugin is enabled for preFilter only. */
  readonly checks: boolean;
}

export interface ScoreUse<Stage> {
  readonly plugin: Plugin;
  readonly stage: Stage;
  readonly weight: number;
}

export interface Stages {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore: number | undefined;
  /** Without duplicates. */
  readonly plugins: readonly Plugin[];
  readonly preEnqueue: readonly Plugin[];
  readonly queueSort: Plugin;
  readonly nodeFilters: readonly FilterUse<NodeFilter<unknown>>[];
  readonly clusterFilters: readonly FilterUse<ClusterFilter<unknown>>[];
  readonly postFilter: readonly Plugin[];
  readonly nodeScores: readonly ScoreUse<NodeScore<unknown>>[];
  /** Sums of scores without `normalize` are few enough for one bucket each: see Ranking. */
  readonly ranksNodes: boolean;
  readonly clusterScores: readonly ScoreUse<ClusterScore<unknown>>[];
  readonly reserve: readonly Plugin[];
  readonly permit: readonly Plugin[];
  readonly preBind: readonly Plugin[];
  readonly bind: readonly Plugin[];
  readonly postBind: readonly Plugin[];
  readonly placementGenerate: readonly Plugin[];
  readonly placementScore: readonly { readonly plugin: Plugin; readonly weight: number }[];
  readonly groupPostFilter: readonly Plugin[];
}

export function makeStages(profile: Profile, factories: readonly PluginFactory[], context: PluginContext): Stages {
  const made = new Map<string, Plugin>();
  const off = new Set(
    factories.filter(({ gate }) => gate !== undefined && !context.enabled(gate)).map(({ name }) => name),
  );
  const used = (point: ExtensionPoint) => profile.plugins[point].filter(({ name }) => !off.has(name));
  const pluginNamed = (name: string): Plugin => {
    let plugin = made.get(name);
    if (plugin === undefined) {
      const factory = factories.find((each) => each.name === name);
      if (factory === undefined) throw new ConfigurationError(`the plugin ${name} does not exist`);
      plugin = factory.make(profile.args, context);
      made.set(name, plugin);
    }
    return plugin;
  };
  const at = (point: ExtensionPoint) => used(point).map(({ name }) => pluginNamed(name));
  const [queueSort] = at("queueSort").filter((plugin) => plugin.queueSort !== undefined);
  if (queueSort === undefined) throw new ConfigurationError(`${profile.schedulerName}: no plugin sorts the queue`);
  const checking = new Set(at("filter"));
  const filters = [...new Set([...checking, ...at("preFilter")])];
  const scores = used("score").map(({ name, weight }) => ({ plugin: pluginNamed(name), weight }));
  const nodeScores = scores.flatMap(({ plugin, weight }) =>
    plugin.score?.reads === "node" ? [{ plugin, stage: plugin.score, weight }] : [],
  );
  const having = (point: ExtensionPoint, stage: keyof Plugin) => at(point).filter((plugin) => plugin[stage]);
  return {
    schedulerName: profile.schedulerName,
    percentageOfNodesToScore: profile.percentageOfNodesToScore,
    preEnqueue: having("preEnqueue", "preEnqueue"),
    queueSort,
    nodeFilters: filters.flatMap((plugin) =>
      plugin.filter?.reads === "node" ? [{ plugin, stage: plugin.filter, checks: checking.has(plugin) }] : [],
    ),
    clusterFilters: filters.flatMap((plugin) =>
      plugin.filter?.reads === "cluster" ? [{ plugin, stage: plugin.filter, checks: checking.has(plugin) }] : [],
    ),
    postFilter: having("postFilter", "postFilter"),
    nodeScores,
    ranksNodes: canRank(nodeScores),
    clusterScores: scores.flatMap(({ plugin, weight }) =>
      plugin.score?.reads === "cluster" ? [{ plugin, stage: plugin.score, weight }] : [],
    ),
    reserve: having("reserve", "reserve"),
    permit: having("permit", "permit"),
    preBind: having("preBind", "preBind"),
    bind: having("bind", "bind"),
    postBind: having("postBind", "postBind"),
    placementGenerate: having("placementGenerate", "placements"),
    placementScore: used("placementScore")
      .map(({ name, weight }) => ({ plugin: pluginNamed(name), weight }))
      .filter(({ plugin }) => plugin.scorePlacement !== undefined),
    groupPostFilter: having("postFilter", "groupPostFilter"),
    plugins: [...made.values()],
  };
}

const HIGHEST_SCORE = 100;
/** Thousands of asks may have buckets of their own. */
const MOST_BUCKETS = 1000;

function canRank(uses: readonly ScoreUse<NodeScore<unknown>>[]): boolean {
  const summed = uses.filter(({ stage }) => stage.normalize === undefined).map(({ weight }) => weight);
  const most = summed.reduce((sum, weight) => sum + weight * HIGHEST_SCORE, 0);
  return most <= MOST_BUCKETS && summed.every((weight) => weight > 0);
}
