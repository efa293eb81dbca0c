/**
 * One pod on the present state of the cluster: which nodes fit, and how good they are. Pure but for what it remembers, and synchronous.
 *
 *     filter: prepare all ──► nominated node first ──► memo of the ask (node stages) ──► sweeps (cluster stages) ──► nodes that fit
 *     score:  raw scores of the memo, sweeps ──► normalized ──► weighted sums
 *
 * 1. Stages that read "node" alone are asked before those that read the cluster: it changes what is told as the reason, never what fits.
 * 2. Results are in arrays of the evaluator: valid until it is asked again.
 */

import {
  type ClusterView,
  type FittingNodes,
  isRejection,
  type NodeInfo,
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
import { ALL_NODES, goList, isNarrowing, type Narrowed, narrowed } from "./narrowing.ts";
import { Open } from "./open-nodes.ts";
import { type Scored, Scorer } from "./scorer.ts";
import { NodeTrial } from "./trial.ts";

/** Reasons that are no plugin's. */
const framework = rejectionsOf("");

export interface FilterOptions {
  /** Tried before all others: if it fits, no other is looked at. */
  readonly nominated?: string | undefined;
  /** The nominated node is one among others all the same. */
  readonly skipsNominated?: boolean;
  /** Looks no further once so many fit. */
  readonly enough?: number | undefined;
}

export class Evaluator {
  readonly stages: Stages;
  readonly #view: ClusterView;
  readonly #memos: Memos;
  readonly #scorer: Scorer;
  #open = new Open(0);
  #codes = new Uint16Array(0);
  /** Where the search begins that ends when enough nodes fit: everyone's turn comes. */
  #start = 0;

  constructor(stages: Stages, view: ClusterView) {
    this.stages = stages;
    this.#view = view;
    this.#memos = new Memos(stages, view);
    this.#scorer = new Scorer(stages, view);
  }

  filter(pod: PodInfo, { nominated, skipsNominated = false, enough }: FilterOptions = {}): Filtered {
    const view = this.#view;
    if (this.#codes.length !== view.generations.length) {
      this.#codes = new Uint16Array(view.generations.length);
      this.#open = new Open(view.generations.length);
    }
    const memo = this.#memos.of(pod.ask);
    const prepared = this.stages.clusterFilters.map(({ stage }) => stage.prepare(pod, view));
    const nodes = this.#narrowed(memo, prepared);
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
    const unseen =
      nodes.names === undefined
        ? undefined
        : framework.unresolvable(`node(s) didn't satisfy plugin(s) ${goList(nodes.plugins)}`);
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

  /** Scores of the nodes that fit, or of some of them. */
  score(filtered: Filtered, nodes: FittingNodes = filtered): Scored {
    return this.#scorer.score(filtered, nodes);
  }

  trial(filtered: Filtered, node: NodeInfo): NodeTrial {
    return new NodeTrial(this.stages, this.#view, filtered, node);
  }

  #narrowed(memo: AskMemo, prepared: readonly Prepared<unknown>[]): Narrowed {
    if (!memo.filters.some(isNarrowing) && !prepared.some(isNarrowing)) return ALL_NODES;
    return narrowed([
      ...memo.filters.map((each, at) => ({ name: this.stages.nodeFilters[at]?.plugin.name ?? "", prepared: each })),
      ...prepared.map((each, at) => ({ name: this.stages.clusterFilters[at]?.plugin.name ?? "", prepared: each })),
    ]);
  }

  #fitsAlone(filtered: Filtered, name: string): boolean {
    const node = this.#view.nodeNamed(name);
    if (node === undefined || this.#verdictOn(filtered, node) !== PASS) return false;
    this.#codes[node.index] = FITS;
    this.#open.only(node.index);
    filtered.count = 1;
    return true;
  }

  /** The memo counts a pod's own nomination as another's: for its own node, ask without. */
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

  /** Whether any filter that reads the cluster had something to say. */
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

  /** Nodes with pods nominated to them have to fit also when those have come. */
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

  /** The first that fit, from where the last search ended. */
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
