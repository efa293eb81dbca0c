/** The memos of asks, the least recently used evicted first, in bounded memory. */
import { LruMap } from "#base";
import type { ClusterView, NodeAsk, Stages } from "../framework/index.ts";
import { AskMemo } from "./ask-memo.ts";
import { RejectionCodes } from "./filtered.ts";
import { isNarrowing } from "./narrowing.ts";

/** Memos times nodes. */
const MAX_CELLS = 1_000_000;
const MIN_MEMOS = 4;

export class Memos {
  readonly #memos = new LruMap<NodeAsk, AskMemo>(MIN_MEMOS);
  readonly #stages: Stages;
  readonly #view: ClusterView;
  #table = new RejectionCodes();
  readonly #epochs: readonly (() => number)[];
  #epoch = 0;

  constructor(stages: Stages, view: ClusterView) {
    this.#stages = stages;
    this.#view = view;
    this.#epochs = stages.nodeFilters.flatMap(({ stage }) =>
      stage.epoch === undefined ? [] : [() => stage.epoch?.() ?? 0],
    );
  }

  /** The rejection codes of all memos. Replaced together with the memos when it is full. */
  get table(): RejectionCodes {
    return this.#table;
  }

  of(ask: NodeAsk): AskMemo {
    let epoch = 0;
    for (const each of this.#epochs) epoch += each();
    if (this.#table.full || epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#memos.clear();
      this.#table = new RejectionCodes();
    }
    const known = this.#memos.get(ask);
    if (known !== undefined) return known;
    const memo = new AskMemo(ask, this.#stages, this.#table, this.#view);
    // An ask for certain nodes is mostly evaluated once, and only on those.
    if (memo.filters.some(isNarrowing)) return memo;
    this.#memos.limit = Math.max(MIN_MEMOS, Math.floor(MAX_CELLS / this.#view.generations.length));
    this.#memos.set(ask, memo);
    return memo;
  }
}
