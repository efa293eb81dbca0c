/**
 * Evaluates one pod on the present state of the cluster: which nodes fit, and their scores. Synchronous, and pure
 * except for its memos.
 *
 *     filter: prepare all ──► nominated node first ──► memo of the ask ──► sweeps ──► nodes that fit
 *                                                      (node stages)      (cluster stages)
 *     score:  raw scores of the memo, sweeps ──► normalized ──► weighted sums
 *
 * 1. Stages that read "node" run before those that read the cluster. This affects the reported reason, never the
 *    result.
 * 2. Results are in arrays of the evaluator: they are valid until its next call.
 */

import {
  type ClusterView,
  type FittingNodes,
  isRejection,
  type NodeInfo,
  type NodeSubset,
  PASS,
  type PodInfo,
  type Prepared,
  type Rejection,
  rejectionsOf,
  type Stages,
  type Verdict,
} from "../framework/index.ts";
import { type AskMemo, atLeastAsImportant } from "./ask-memo.ts";
import type { Filtered } from "./filtered.ts";
import { FITS, UNSEEN } from "./filtered.ts";
import { Memos } from "./memos.ts";
import { ALL_NODES, goList, isNarrowing, type Narrowed, narrowed, restricted } from "./narrowing.ts";
import { Open } from "./open-nodes.ts";
import { type Scored, Scorer } from "./scorer.ts";
import { NodeTrial } from "./trial.ts";

export interface FilterOptions {
  /** Checked first: if it fits, no other node is checked. */
  readonly nominated?: string | undefined;
  /** Treats the nominated node like all others. */
  readonly skipsNominated?: boolean;
  /** Stops once this many nodes fit. */
  readonly enough?: number | undefined;
  /** The only nodes that are considered. Default: all. */
  readonly within?: NodeSubset | undefined;
}

export class Evaluator {
  readonly stages: Stages;
  readonly #view: ClusterView;
  readonly #memos: Memos;
  readonly #scorer: Scorer;
  /** Rejections by the framework itself. */
  readonly #rejections = rejectionsOf("");
  #open = new Open(0);
  #codes = new Uint16Array(0);
  /** Where the next limited search begins, so that all nodes get their turn. */
  #start = 0;

  constructor(stages: Stages, view: ClusterView) {
    this.stages = stages;
    this.#view = view;
    this.#memos = new Memos(stages, view);
    this.#scorer = new Scorer(stages, view);
  }

  filter(pod: PodInfo, { nominated: wished, skipsNominated = false, enough, within }: FilterOptions = {}): Filtered {
    const nominated = wished === undefined || within?.names.has(wished) === false ? undefined : wished;
    const view = this.#view;
    if (this.#codes.length !== view.generations.length) {
      this.#codes = new Uint16Array(view.generations.length);
      this.#open = new Open(view.generations.length);
    }
    const memo = this.#memos.of(pod.ask);
    const prepared = this.stages.clusterFilters.map(({ stage }) => stage.prepare(pod, view));
    const nodes = restricted(this.#narrowed(memo, prepared), within, this.#rejections);
    const base = {
      pod,
      memo,
      prepared,
      table: this.#memos.table,
      codes: this.#codes,
      counts: undefined,
      indexes: this.#open.indexes,
      count: 0,
      fromMemo: false,
      narrowing: nodes.plugins,
      rejection: memo.rejection ?? rejectionAmong(prepared) ?? nodes.rejection,
      unseen: undefined,
    };
    if (nodes.names !== undefined || nominated !== undefined || base.rejection !== undefined) this.#codes.fill(UNSEEN);
    if (base.rejection !== undefined) return base;
    const unseen = this.#unseen(nodes, within);
    const alone: Filtered = { ...base, unseen };
    if (nominated !== undefined && !skipsNominated && this.#fitsAlone(alone, nominated)) return alone;
    const filtered: Filtered = { ...alone, fromMemo: nodes.names === undefined };
    if (nodes.names === undefined) this.#filterAll(filtered);
    else this.#filterNamed(filtered, nodes.names);
    const isOwnSet = nominated !== undefined && filtered.fromMemo && this.#setOwn(filtered, nominated);
    if (filtered.fromMemo && !isOwnSet) this.#open.take(memo.fitting);
    else if (filtered.fromMemo) this.#open.collect(this.#codes, view.nodes.length);
    const isSwept = this.#sweep(filtered);
    if (filtered.fromMemo && !isOwnSet && !isSwept) filtered.counts = memo.counts;
    filtered.count = this.#open.count;
    if (enough !== undefined && filtered.count > enough) this.#keepEnough(filtered, enough);
    return filtered;
  }

  /** Scores the nodes that fit, or some of them. */
  score(filtered: Filtered, nodes: FittingNodes = filtered): Scored {
    return this.#scorer.score(filtered, nodes);
  }

  trial(filtered: Filtered, node: NodeInfo): NodeTrial {
    return new NodeTrial(this.stages, this.#view, filtered, node);
  }

  #unseen({ names, plugins }: Narrowed, within: NodeSubset | undefined): Rejection | undefined {
    if (names === undefined) return undefined;
    const reason =
      plugins.length === 0 && within !== undefined
        ? within.reason
        : `node(s) didn't satisfy plugin(s) ${goList(plugins)}`;
    return this.#rejections.unresolvable(reason);
  }

  #narrowed(memo: AskMemo, prepared: readonly Prepared<unknown>[]): Narrowed {
    if (!memo.filters.some(isNarrowing) && !prepared.some(isNarrowing)) return ALL_NODES;
    return narrowed(
      [
        ...memo.filters.map((each, at) => ({ name: this.stages.nodeFilters[at]?.plugin.name ?? "", prepared: each })),
        ...prepared.map((each, at) => ({ name: this.stages.clusterFilters[at]?.plugin.name ?? "", prepared: each })),
      ],
      this.#rejections,
    );
  }

  #fitsAlone(filtered: Filtered, name: string): boolean {
    const node = this.#view.nodeNamed(name);
    if (node === undefined || this.#verdictOn(filtered, node) !== PASS) return false;
    this.#codes[node.index] = FITS;
    this.#open.only(node.index);
    filtered.count = 1;
    return true;
  }

  /** The memo counts the pod's own nomination like another pod's: its own node is checked without it. */
  #setOwn(filtered: Filtered, name: string): boolean {
    const node = this.#view.nodeNamed(name);
    if (node === undefined) return false;
    const verdict = this.#verdictOn(filtered, node);
    this.#codes[node.index] = isRejection(verdict) ? filtered.table.codeOf(verdict) : FITS;
    return true;
  }

  #filterAll({ memo }: Filtered): void {
    memo.refresh(this.#view);
    this.#codes.set(memo.codes);
  }

  #filterNamed({ memo, pod, table }: Filtered, names: ReadonlySet<string>): void {
    this.#open.clear();
    for (const name of names) {
      const node = this.#view.nodeNamed(name);
      if (node === undefined) continue;
      const verdict = memo.verdictOn(node, this.#others(node, pod));
      this.#codes[node.index] = isRejection(verdict) ? table.codeOf(verdict) : FITS;
      if (!isRejection(verdict)) this.#open.add(node.index);
    }
  }

  /** Returns whether any filter that reads the cluster applied. */
  #sweep(filtered: Filtered): boolean {
    const { prepared, table } = filtered;
    const { clusterFilters } = this.stages;
    let active = false;
    for (let at = 0; at < clusterFilters.length; at++) {
      const use = clusterFilters[at];
      const each = prepared[at];
      if (each?.kind !== "ready" || use?.checks !== true) continue;
      const { stage } = use;
      active = true;
      this.#open.begin(this.#codes, table);
      if (stage.sweep !== undefined) stage.sweep(each.state, this.#open);
      else this.#open.each(this.#view, (node) => stage.check(each.state, node));
      this.#open.end();
    }
    if (active) this.#crowd(filtered);
    return active;
  }

  /** Nodes with nominated pods have to fit with those pods, too. */
  #crowd(filtered: Filtered): void {
    for (const name of this.#view.nominatedNodes()) {
      const node = this.#view.nodeNamed(name);
      if (node === undefined || this.#codes[node.index] !== FITS) continue;
      const verdict = this.#verdictOn(filtered, node);
      if (isRejection(verdict)) {
        this.#open.begin(this.#codes, filtered.table);
        this.#open.reject(node.index, verdict);
        this.#open.end();
      }
    }
  }

  #verdictOn(filtered: Filtered, node: NodeInfo): Verdict {
    const others = this.#others(node, filtered.pod);
    const verdict = filtered.memo.verdictOn(node, others);
    if (verdict !== PASS) return verdict;
    const trial = this.trial(filtered, node);
    return trial.clusterVerdict(others);
  }

  #others(node: NodeInfo, pod: PodInfo): readonly PodInfo[] {
    const nominated = this.#view.nominatedTo(node.name);
    return nominated.length === 0
      ? nominated
      : atLeastAsImportant(nominated, pod.priority).filter(({ uid }) => uid !== pod.uid);
  }

  /** Keeps the first nodes that fit, starting where the last search ended. */
  #keepEnough(filtered: Filtered, enough: number): void {
    const { codes, indexes } = filtered;
    const size = this.#view.nodes.length;
    let kept = 0;
    let at = this.#start % size;
    for (let seen = 0; seen < size && kept < enough; seen++, at = (at + 1) % size) {
      if (codes[at] === FITS) indexes[kept++] = at;
    }
    this.#start = at;
    filtered.count = kept;
  }
}

function rejectionAmong(prepared: readonly Prepared<unknown>[]): Rejection | undefined {
  return prepared.find((each) => each.kind === "rejected")?.rejection;
}
