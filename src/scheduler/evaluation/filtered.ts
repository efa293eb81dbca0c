/** What came out of filtering the nodes for one pod. Its arrays are the evaluator's: they are valid until it filters again. */

import type { PodInfo, Prepared, Rejection } from "../framework/index.ts";
import type { AskMemo } from "./ask-memo.ts";

/** The pod fits. */
export const FITS = 0;
/** There is no node, or it was not looked at. */
export const UNSEEN = 0xffff;

/** Rejections as small numbers: the verdicts on all nodes fit into one typed array. */
export class RejectionCodes {
  readonly #codes = new Map<Rejection, number>();
  readonly #rejections: (Rejection | undefined)[] = [undefined];

  codeOf(rejection: Rejection): number {
    let code = this.#codes.get(rejection);
    if (code === undefined) {
      code = this.#rejections.length;
      this.#rejections.push(rejection);
      this.#codes.set(rejection, code);
    }
    return code;
  }

  rejectionOf(code: number): Rejection | undefined {
    return this.#rejections[code];
  }

  /** No more codes are free: every holder of codes has to start over. */
  get full(): boolean {
    return this.#rejections.length > UNSEEN / 2;
  }
}

export interface Filtered {
  readonly pod: PodInfo;
  readonly memo: AskMemo;
  readonly table: RejectionCodes;
  /** Of the filters that read the cluster, in their order. */
  readonly prepared: readonly Prepared<unknown>[];
  /** By node index: FITS, UNSEEN, or the code of a rejection. */
  readonly codes: Uint16Array;
  /** By code: how many nodes have it, where that is known without counting. */
  counts: readonly number[] | undefined;
  /** The nodes that fit: the first `count`. */
  readonly indexes: Int32Array;
  count: number;
  /** The memo is up to date for all nodes. */
  readonly fromMemo: boolean;
  /** The pod was rejected as such, before any node was looked at. */
  readonly rejection: Rejection | undefined;
  /** Why nodes that were not looked at were not. */
  readonly unseen: Rejection | undefined;
  /** Plugins that have said which nodes alone can fit. */
  readonly narrowing: readonly string[];
}

/** Undefined where the pod fits, or nothing is known. */
export function rejectionOn(filtered: Filtered, index: number): Rejection | undefined {
  const code = filtered.codes[index] ?? UNSEEN;
  if (filtered.rejection !== undefined) return filtered.rejection;
  if (code === FITS) return undefined;
  return code === UNSEEN ? filtered.unseen : filtered.table.rejectionOf(code);
}
