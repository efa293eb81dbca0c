/**
 * The result of filtering the nodes for one pod. Its arrays belong to the evaluator, and are valid until it filters
 * again.
 */

import type { PodInfo, Prepared, Rejection } from "../framework/index.ts";
import type { AskMemo } from "./ask-memo.ts";

/** The pod fits. */
export const FITS = 0;
/** There is no node, or it was not checked. */
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
  /** Prepared states of the filters that read the cluster, in their order. */
  readonly prepared: readonly Prepared<unknown>[];
  /** By node index: FITS, UNSEEN, or the code of a rejection. */
  readonly codes: Uint16Array;
  /** Number of nodes by code, if known without counting. */
  counts: readonly number[] | undefined;
  /** The nodes that fit: the first `count`. */
  readonly indexes: Int32Array;
  count: number;
  /** The memo is up to date for all nodes. */
  readonly fromMemo: boolean;
  /** The pod was rejected before any node was checked. */
  readonly rejection: Rejection | undefined;
  /** Why unchecked nodes were left out. */
  readonly unseen: Rejection | undefined;
  /** Plugins that restricted the set of nodes. */
  readonly narrowing: readonly string[];
}

/** Undefined if the pod fits, or if nothing is known. */
export function rejectionOn(filtered: Filtered, index: number): Rejection | undefined {
  const code = filtered.codes[index] ?? UNSEEN;
  if (filtered.rejection !== undefined) return filtered.rejection;
  if (code === FITS) return undefined;
  return code === UNSEEN ? filtered.unseen : filtered.table.rejectionOf(code);
}
