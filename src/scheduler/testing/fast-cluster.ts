/**
 * A cluster in two forms: plain objects, and the scheduler's state with its plugins. Every change is applied to both,
 * so that they can be compared at any time.
 */
import { type core, defaultFeatures, type KubeObject, kinds } from "#api";
import { realClock, seededRandom, silentLogger } from "#base";
import type { ResourceOf } from "#client";
import { DEFAULT_PLUGINS, PLUGIN_POINTS } from "../configuration/index.ts";
import { type Decision, decide, Evaluator } from "../evaluation/index.ts";
import {
  DEFAULT_ARGUMENTS,
  EXTENSION_POINTS,
  type ExtensionPoint,
  makeStages,
  type NodeInfo,
  type PluginArguments,
  type PluginContext,
  type PluginUse,
  type Profile,
} from "../framework/index.ts";
import { victimsOn } from "../plugins/default-preemption/victims.ts";
import { ALL_PLUGINS } from "../plugins/index.ts";
import { ClusterState, PodInfos, ResourceNames } from "../snapshot/index.ts";
import { HeldObjects } from "./held-objects.ts";
import type { PlainCluster } from "./plain/index.ts";

export interface FastOptions {
  readonly args?: PluginArguments;
  /** Only these plugins. Default: all default plugins. */
  readonly plugins?: readonly string[];
}

export class FastCluster {
  readonly #names = new ResourceNames();
  readonly #infos = new PodInfos(this.#names);
  readonly state = new ClusterState(this.#names);
  readonly held = new HeldObjects();
  readonly #evaluator: Evaluator;
  readonly #nodes = new Map<string, core.Node>();
  readonly #pods = new Map<string, core.Pod>();
  readonly #others: PlainCluster;

  constructor(cluster: PlainCluster, { args = DEFAULT_ARGUMENTS, plugins }: FastOptions = {}) {
    this.#others = cluster;
    this.#holdAll(cluster);
    for (const { metadata } of cluster.namespaces ?? [])
      this.state.setNamespace(metadata.name ?? "", metadata.labels ?? {});
    for (const node of cluster.nodes) this.setNode(node);
    for (const pod of cluster.pods) this.setPod(pod);
    const profile = defaultProfile(plugins ?? ALL_PLUGINS.map(({ name }) => name), args);
    const context = only<PluginContext>({
      informers: this.held.informers(),
      view: this.state,
      resources: this.#names,
      clock: realClock(),
      random: seededRandom(1),
      log: silentLogger,
      extenders: [],
      groups: undefined,
      enabled: (gate) => defaultFeatures.enabled(gate),
      wake: () => {},
    });
    const stages = makeStages(profile, ALL_PLUGINS, context);
    this.#evaluator = new Evaluator(stages, this.state);
  }

  /** The present state. */
  plain(): PlainCluster {
    return { ...this.#others, nodes: [...this.#nodes.values()], pods: [...this.#pods.values()] };
  }

  setNode(node: core.Node): void {
    this.#nodes.set(node.metadata.name ?? "", node);
    this.state.setNode(node);
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.state.removeNode(name);
  }

  setPod(pod: core.Pod): void {
    const { uid = "" } = pod.metadata;
    const phase = pod.status?.phase;
    this.#pods.set(uid, pod);
    if (phase === "Succeeded" || phase === "Failed") this.state.removePod(uid);
    else this.state.setPod(this.#infos.of(pod));
  }

  removePod(uid: string): void {
    this.#pods.delete(uid);
    this.state.removePod(uid);
  }

  /** The plain rules do not know nominations. */
  nominate(pod: core.Pod, node: string): void {
    this.state.nominate(this.#infos.of(pod), node);
  }

  decide(pod: core.Pod): Decision {
    return decide(this.#evaluator, this.state, this.#infos.of(pod));
  }

  /** The victims on a node by name; "nobody" if preemption does not help. */
  victims(pod: core.Pod, name: string): readonly string[] | "nobody" {
    const info = this.#infos.of(pod);
    const filtered = this.#evaluator.filter(info);
    const node = this.state.nodeNamed(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    const trial = (on: NodeInfo) => this.#evaluator.trial(filtered, on);
    const found = victimsOn({ pod: info, trial }, node, [], 0);
    return found.kind === "candidate" ? found.victims.map((victim) => victim.name) : "nobody";
  }

  /** Reads from a plugin's state what it decides when it reserves the node; the reservation is undone. */
  reserved<State, T>(pod: core.Pod, name: string, plugin: string, read: (state: State) => T): T {
    const info = this.#infos.of(pod);
    const filtered = this.#evaluator.filter(info);
    const at = this.#evaluator.stages.clusterFilters.findIndex((use) => use.plugin.name === plugin);
    const [use, prepared] = [this.#evaluator.stages.clusterFilters[at], filtered.prepared[at]];
    const node = this.state.nodeNamed(name);
    if (prepared?.kind !== "ready" || node === undefined) throw new Error(`${plugin} has nothing to reserve`);
    use?.plugin.reserve?.(prepared.state, info, node);
    const decided = read(prepared.state as State);
    use?.plugin.unreserve?.(prepared.state, info, name);
    return decided;
  }

  #holdAll(cluster: PlainCluster): void {
    const hold = <T extends KubeObject>(kind: ResourceOf<T>, objects: readonly T[] = []) => {
      for (const object of objects) this.held.set(kind, object);
    };
    hold(kinds.Service, cluster.services);
    hold(kinds.ReplicationController, cluster.replicationControllers);
    hold(kinds.ReplicaSet, cluster.replicaSets);
    hold(kinds.StatefulSet, cluster.statefulSets);
    hold(kinds.PersistentVolumeClaim, cluster.persistentVolumeClaims);
    hold(kinds.PersistentVolume, cluster.persistentVolumes);
    hold(kinds.StorageClass, cluster.storageClasses);
    hold(kinds.CSINode, cluster.csiNodes);
    hold(kinds.CSIDriver, cluster.csiDrivers);
    hold(kinds.CSIStorageCapacity, cluster.csiStorageCapacities);
    hold(kinds.VolumeAttachment, cluster.volumeAttachments);
  }
}

/** The extension points of a decision: nothing is bound here. */
const DECIDING: ReadonlySet<ExtensionPoint> = new Set(["queueSort", "preFilter", "filter", "preScore", "score"]);

function defaultProfile(plugins: readonly string[], args: PluginArguments): Profile {
  const uses = (point: ExtensionPoint): readonly PluginUse[] =>
    DECIDING.has(point)
      ? DEFAULT_PLUGINS.filter(({ name }) => plugins.includes(name) && PLUGIN_POINTS.get(name)?.includes(point))
      : [];
  const byPoint = Object.fromEntries(EXTENSION_POINTS.map((point) => [point, uses(point)]));
  return { schedulerName: "default-scheduler", plugins: byPoint as Profile["plugins"], args };
}

/** Fails if a decision uses anything else of the context. */
function only<T extends object>(given: Partial<T>): T {
  const absent = new Proxy(
    {},
    {
      get: (_, property) => {
        throw new Error(`a decision asked for ${String(property)}`);
      },
    },
  );
  return new Proxy(given as T, { get: (target, property) => Reflect.get(target, property) ?? absent });
}
