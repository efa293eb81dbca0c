/** What is remembered of asks, the least lately used forgotten first, in bounded memory. */

import type { ClusterView, NodeAsk, Stages } from "../framework/index.ts";
import { AskMemo } from "./ask-memo.ts";
import { RejectionCodes } from "./filtered.ts";
import { isNarrowing } from "./narrowing.ts";

/** Asks times nodes. */
const MAX_CELLS = 1_000_000;
const MIN_MEMOS = 4;

export class Memos {
  readonly #memos = new Map<NodeAsk, AskMemo>();
  readonly #stages: Stages;
  readonly #view: ClusterView;
  #table = new RejectionCodes();

  constructor(stages: Stages, view: ClusterView) {
    this.#stages = stages;
    this.#view = view;
  }

  /** Of the codes of all memos since they were last forgotten. */
  get table(): RejectionCodes {
    return this.#table;
  }

  of(ask: NodeAsk): AskMemo {
    if (this.#table.full) {
      this.#memos.clear();
      this.#table = new RejectionCodes();
    }
    let memo = this.#memos.get(ask);
    if (memo === undefined) {
      memo = new AskMemo(ask, this.#stages, this.#table, this.#view);
      // An ask for certain nodes is asked about those alone, and mostly once.
      if (memo.filters.some(isNarrowing)) return memo;
      this.#forgetOldest();
    } else this.#memos.delete(ask);
    this.#memos.set(ask, memo);
    return memo;
  }

  #forgetOldest(): void {
    const most = Math.max(MIN_MEMOS, Math.floor(MAX_CELLS / this.#view.generations.length));
    if (this.#memos.size < most) return;
    const [oldest] = this.#memos.keys();
    if (oldest !== undefined) this.#memos.delete(oldest);
  }
}
