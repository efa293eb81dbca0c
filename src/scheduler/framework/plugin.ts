/**
 * A scheduler plugin: a value with one property for each stage that it takes part in.
 *
 *     preEnqueue · queueSort
 *     filter.prepare ──► filter.check for each node ──► postFilter where none is left
 *     score.prepare ──► score.of for each node that is left ──► score.normalize
 *     reserve ──► permit ──► preBind ──► bind ──► postBind            unreserve where one of them fails
 *
 * 1. What a stage's `prepare` returns (the original's preFilter and preScore) is what its other functions receive, typed: no shared bag.
 * 2. A stage says what it reads. "node": nothing but the ask and the NodeInfo; its answers are kept for all pods with the same ask until the node's
 *    generation changes. "cluster": whatever it likes; it is asked at every attempt.
 * 3. Everything up to `permit` is synchronous and touches nothing outside: an attempt sees one state of the cluster. `preBind`, `bind` and `postFilter` may wait.
 * 4. `check` is the definition. `sweep` is the same for all nodes at once, for speed, and must give the same verdicts.
 * 5. Scores are whole numbers. After `normalize` they lie between 0 and MAX_SCORE.
 */

import type { KubeObject } from "#api";
import type { Wake } from "./cluster-event.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { NodeInfo } from "./node-info.ts";
import type { NodeAsk, PodInfo } from "./pod-info.ts";
import type { Rejection, Verdict } from "./verdict.ts";

export const MAX_SCORE = 100;

/** What `prepare` found out. */
export type Prepared<State> =
  | {
      readonly kind: "ready";
      readonly state: State;
      /** By name: no other node can fit. */
      readonly nodes?: ReadonlySet<string>;
    }
  /** This stage has nothing to say about this pod. */
  | { readonly kind: "skip" }
  /** No node fits, and none needs to be looked at. */
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
}

export interface ClusterFilter<State> {
  readonly reads: "cluster";
  prepare(pod: PodInfo, view: ClusterView): Prepared<State>;
  check(state: State, node: NodeInfo): Verdict;
  /** The verdicts on all nodes that are still `open`, at once. */
  sweep?(state: State, open: OpenNodes): void;
  /** The state if a pod came to a node, or left it: the state given stays as it is. Absent: pods on nodes do not matter to the state. */
  withPod?(state: State, pod: PodInfo, node: NodeInfo): State;
  withoutPod?(state: State, pod: PodInfo, node: NodeInfo): State;
}

/** The nodes that no filter has rejected so far. */
export interface OpenNodes {
  /** Their indexes are the first `count` of these. */
  readonly indexes: Int32Array;
  readonly count: number;
  /** By node index. To be called at most once for a node, during a sweep. */
  reject(index: number, rejection: Rejection): void;
}

/** Nodes that fit: the first `count` of `indexes`. */
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
  /** In place. Absent: they are between 0 and MAX_SCORE as they are. */
  normalize?(scores: Scores, nodes: FittingNodes): void;
  /** A number that is another one when answers may be another without a node having changed. Absent: there is no such thing. */
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

/** A failed attempt, as postFilter gets it. */
export interface NoFit {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  /** By node index; undefined for a node that was not looked at: nothing can be done about it. */
  rejectionOf(index: number): Rejection | undefined;
  /** How many nodes were rejected in a way that may go away with other pods (`unschedulable`). */
  readonly resolvable: number;
  /** Whether the node of this index is one of them. */
  isResolvable(index: number): boolean;
  /** Every filter that has something to say about this pod reads "node": equal asks have equal trials as long as the node stays the same. */
  readonly readsNodesOnly: boolean;
  /** "What if" on one node. */
  trial(node: NodeInfo): Trial;
}

/** A node of which nobody else knows, to try on it. */
export interface Trial {
  readonly node: NodeInfo;
  add(pod: PodInfo): void;
  remove(pod: PodInfo): void;
  /** Whether the pod would fit now, also when those nominated to the node come. */
  verdict(): Verdict;
}

export type PostFiltered =
  /** Make room: the pod is nominated to the node. */
  | { readonly kind: "nominated"; readonly node: string }
  /** Nothing to be done; `clears`: an earlier nomination is void. `message` goes into events. */
  | { readonly kind: "rejected"; readonly message: string; readonly clears: boolean };

export interface Waiting {
  readonly kind: "wait";
  readonly timeoutMs: number;
}

/** `state`: what the plugin's filter prepared for this pod; undefined if it skipped. */
export interface Plugin<Filtered = unknown, Scored = unknown> {
  readonly name: string;
  readonly wakes?: readonly Wake[];
  preEnqueue?(pod: PodInfo): Verdict;
  /** Whether `a` is to be tried before `b`. One plugin of a scheduler has it. */
  queueSort?(a: Queued, b: Queued): boolean;
  readonly filter?: NodeFilter<Filtered> | ClusterFilter<Filtered>;
  postFilter?(failed: NoFit, signal: AbortSignal): PostFiltered | Promise<PostFiltered>;
  readonly score?: NodeScore<Scored> | ClusterScore<Scored>;
  /** Notes down that the pod will be there. Must be undone by `unreserve`, which never fails and may be called without `reserve`. */
  reserve?(state: Filtered | undefined, pod: PodInfo, node: NodeInfo): Verdict;
  unreserve?(state: Filtered | undefined, pod: PodInfo, node: string): void;
  permit?(state: Filtered | undefined, pod: PodInfo, node: string): Verdict | Waiting;
  preBind?(state: Filtered | undefined, pod: PodInfo, node: string, signal: AbortSignal): Promise<Verdict>;
  /** Whether preBind has something to do for this pod, which may take its time. Absent: it always has. */
  needsPreBind?(state: Filtered | undefined): boolean;
  /** "skip": another has to. Throws if the API server refuses. `wokenBy`: the object whose change had the pod tried again. */
  bind?(pod: PodInfo, node: string, signal: AbortSignal, wokenBy?: KubeObject): Promise<"bound" | "skip">;
  postBind?(state: Filtered | undefined, pod: PodInfo, node: string): void;
}

/** What orders the queue. */
export interface Queued {
  readonly pod: PodInfo;
  /** When it came into the queue, by the monotonic clock. */
  readonly addedMs: number;
  /** Distinct and rising with arrival. */
  readonly sequence: number;
}

/** Keeps the types of the stages' states together; the framework itself does not look into them. */
export function definePlugin<Filtered = undefined, Scored = undefined>(plugin: Plugin<Filtered, Scored>): Plugin {
  return plugin as Plugin;
}
