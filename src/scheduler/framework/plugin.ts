/**
 * A scheduler plugin: a value with one property for each stage that it takes part in.
 *
 *     preEnqueue · queueSort
 *     filter.prepare ──► filter.check for each node ──► postFilter if none is left
 *     score.prepare ──► score.of for each node that is left ──► score.normalize
 *     reserve ──► permit ──► preBind ──► bind ──► postBind            unreserve if one of them fails
 *
 * 1. A stage's `prepare` is preFilter or preScore of Kubernetes. Its result is passed to the stage's other functions,
 *    typed: there is no CycleState.
 * 2. A stage declares what it reads. "node": only the ask and the NodeInfo; results are reused for all pods with the
 *    same ask until the node's generation changes. "cluster": anything; it runs in every attempt.
 * 3. Everything up to `permit` is synchronous and has no side effects outside: an attempt sees one state of the
 *    cluster. `preBind`, `bind` and `postFilter` may be asynchronous.
 * 4. `check` is the definition. `sweep` does the same for all nodes at once, for speed, and must return the same
 *    verdicts.
 * 5. Scores are integers, between 0 and MAX_SCORE after `normalize`.
 */
import type { KubeObject } from "#api";
import type { Wake } from "./cluster-event.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { Group, GroupNoFit, GroupPlacement, GroupPostFiltered, NodeSubset } from "./group.ts";
import type { NodeInfo } from "./node-info.ts";
import type { NodeAsk, PodInfo } from "./pod-info.ts";
import type { Rejection, Verdict } from "./verdict.ts";

export const MAX_SCORE = 100;

/** The result of `prepare`. */
export type Prepared<State> =
  | {
      readonly kind: "ready";
      readonly state: State;
      /** Names of the only nodes that can fit. */
      readonly nodes?: ReadonlySet<string>;
    }
  /** The stage does not apply to this pod. */
  | { readonly kind: "skip" }
  /** No node fits; none needs to be checked. */
  | { readonly kind: "rejected"; readonly rejection: Rejection };

export const SKIP = Object.freeze({ kind: "skip" as const });

export function ready<State>(state: State, nodes?: ReadonlySet<string>): Prepared<State> {
  return nodes === undefined ? { kind: "ready", state } : { kind: "ready", state, nodes };
}

export function rejected(rejection: Rejection): Prepared<never> {
  return { kind: "rejected", rejection };
}

export interface NodeFilter<State> {
  readonly reads: "node";
  prepare(ask: NodeAsk): Prepared<State>;
  check(state: State, node: NodeInfo): Verdict;
  /** Changes when verdicts may change without a change of a node. Absent: they never do. */
  epoch?(): number;
}

export interface ClusterFilter<State> {
  readonly reads: "cluster";
  prepare(pod: PodInfo, view: ClusterView): Prepared<State>;
  check(state: State, node: NodeInfo): Verdict;
  /** Checks all `open` nodes at once. */
  sweep?(state: State, open: OpenNodes): void;
  /**
   * The state with a pod added to, or removed from, a node; the given state is not changed. Absent: pods do not matter.
   */
  withPod?(state: State, pod: PodInfo, node: NodeInfo): State;
  withoutPod?(state: State, pod: PodInfo, node: NodeInfo): State;
}

/** The nodes that no filter has rejected yet. */
export interface OpenNodes {
  /** Node indexes; the first `count` are valid. */
  readonly indexes: Int32Array;
  readonly count: number;
  /** At most once for each node, during a sweep. */
  reject(index: number, rejection: Rejection): void;
}

/** The nodes that fit: the first `count` of `indexes`. */
export interface FittingNodes {
  readonly indexes: Int32Array;
  readonly count: number;
}

/** By node index. */
export type Scores = Float64Array;

export interface NodeScore<State> {
  readonly reads: "node";
  prepare(ask: NodeAsk, view: ClusterView): Prepared<State>;
  of(state: State, node: NodeInfo): number;
  /** In place. Absent: scores are between 0 and MAX_SCORE already. */
  normalize?(scores: Scores, nodes: FittingNodes): void;
  /** Changes when scores may change without a change of a node. Absent: they never do. */
  epoch?(view: ClusterView): number;
}

export interface ClusterScore<State> {
  readonly reads: "cluster";
  prepare(pod: PodInfo, view: ClusterView, nodes: FittingNodes): Prepared<State>;
  of(state: State, node: NodeInfo): number;
  /** The same for all nodes at once. */
  sweep?(state: State, nodes: FittingNodes, scores: Scores): void;
  normalize?(state: State, scores: Scores, nodes: FittingNodes): void;
}

/** An attempt in which no node fits, for postFilter. */
export interface NoFit {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  /** By node index; undefined if the node was not checked. */
  rejectionOf(index: number): Rejection | undefined;
  /** Number of nodes that removing pods may help on (`unschedulable`). */
  readonly resolvable: number;
  /** Whether the node with this index is one of them. */
  isResolvable(index: number): boolean;
  /** All filters that apply to this pod read "node": equal asks have equal trials while the node stays the same. */
  readonly readsNodesOnly: boolean;
  /** "What if" on one node. */
  trial(node: NodeInfo): Trial;
}

/** A copy of a node to try changes on. */
export interface Trial {
  readonly node: NodeInfo;
  add(pod: PodInfo): void;
  remove(pod: PodInfo): void;
  /** Whether the pod fits, both with and without the pods nominated to the node. */
  verdict(): Verdict;
}

export type PostFiltered =
  /** The pod is nominated to the node. */
  | { readonly kind: "nominated"; readonly node: string }
  /** Nothing helps. `clears`: removes an earlier nomination. `message` goes into events. */
  | { readonly kind: "rejected"; readonly message: string; readonly clears: boolean };

export interface Waiting {
  readonly kind: "wait";
  readonly timeoutMs: number;
}

/** `state`: what the plugin's filter prepared for this pod; undefined if it skipped. */
export interface Plugin<Filtered = unknown, Scored = unknown> {
  readonly name: string;
  readonly wakes?: readonly Wake[];
  /** What the Pod waits for, for wakes with `keys`. They hold until the Pod changes. */
  wakeKeys?(pod: PodInfo): readonly string[];
  preEnqueue?(pod: PodInfo): Verdict;
  /** Whether `a` is tried before `b`. Exactly one plugin of a scheduler has this stage. */
  queueSort?(a: Queued, b: Queued): boolean;
  readonly filter?: NodeFilter<Filtered> | ClusterFilter<Filtered>;
  postFilter?(failed: NoFit, signal: AbortSignal): PostFiltered | Promise<PostFiltered>;
  /**
   * The parts of the cluster in one of which a group has to be, as a whole; undefined: anywhere. `on`: nodes where Pods
   * of the group are already. A text says why there is none.
   */
  placements?(group: Group, view: ClusterView, on: readonly string[]): readonly NodeSubset[] | string | undefined;
  /** Between 0 and MAX_SCORE, or any number if the plugin normalizes: see normalizePlacements. */
  scorePlacement?(placement: GroupPlacement): number;
  /** Makes the scores of all placements comparable. */
  normalizePlacements?(scores: readonly number[]): readonly number[];
  /** Synchronous, and for the whole group: in place of its Pods' postFilter of the same plugin. */
  groupPostFilter?(failed: GroupNoFit): GroupPostFiltered;
  readonly score?: NodeScore<Scored> | ClusterScore<Scored>;
  /** Reserves resources. `unreserve` undoes it, never fails, and may be called without `reserve`. */
  reserve?(state: Filtered | undefined, pod: PodInfo, node: NodeInfo): Verdict;
  unreserve?(state: Filtered | undefined, pod: PodInfo, node: string): void;
  permit?(state: Filtered | undefined, pod: PodInfo, node: string): Verdict | Waiting;
  preBind?(state: Filtered | undefined, pod: PodInfo, node: string, signal: AbortSignal): Promise<Verdict>;
  /** Whether preBind has work to do for this pod, which may take long. Absent: always. */
  needsPreBind?(state: Filtered | undefined): boolean;
  /**
   * "skip": another plugin binds. Throws if the API server refuses. `wokenBy`: the object whose change woke the pod.
   */
  bind?(pod: PodInfo, node: string, signal: AbortSignal, wokenBy?: KubeObject): Promise<"bound" | "skip">;
  postBind?(state: Filtered | undefined, pod: PodInfo, node: string): void;
}

/** What queueSort compares. */
export interface Queued {
  readonly pod: PodInfo;
  /** When it entered the queue, by the monotonic clock. */
  readonly addedMs: number;
  /** Unique, in order of arrival. */
  readonly sequence: number;
}

/** Checks the types of the stages' states; to the framework they are opaque. */
export function definePlugin<Filtered = undefined, Scored = undefined>(plugin: Plugin<Filtered, Scored>): Plugin {
  return plugin as Plugin;
}
