/** The nodes that no filter has rejected yet. Reused from one attempt to the next. */
import {
  type ClusterView,
  isRejection,
  type NodeInfo,
  type OpenNodes,
  type Rejection,
  type Verdict,
} from "../framework/index.ts";
import { FITS, RejectionCodes } from "./filtered.ts";

export class Open implements OpenNodes {
  readonly indexes: Int32Array;
  count = 0;
  #codes: Uint16Array = new Uint16Array(0);
  #table = new RejectionCodes();
  #rejected = 0;

  constructor(capacity: number) {
    this.indexes = new Int32Array(capacity);
  }

  collect(codes: Uint16Array, size: number): void {
    let count = 0;
    for (let index = 0; index < size; index++) if (codes[index] === FITS) this.indexes[count++] = index;
    this.count = count;
  }

  /** Starts with these nodes. */
  take(indexes: Int32Array): void {
    this.indexes.set(indexes);
    this.count = indexes.length;
  }

  clear(): void {
    this.count = 0;
  }

  add(index: number): void {
    this.indexes[this.count++] = index;
  }

  only(index: number): void {
    this.indexes[0] = index;
    this.count = 1;
  }

  begin(codes: Uint16Array, table: RejectionCodes): void {
    this.#codes = codes;
    this.#table = table;
    this.#rejected = 0;
  }

  reject(index: number, rejection: Rejection): void {
    this.#codes[index] = this.#table.codeOf(rejection);
    this.#rejected += 1;
  }

  each(view: ClusterView, check: (node: NodeInfo) => Verdict): void {
    for (let at = 0; at < this.count; at++) {
      const node = view.nodes[this.indexes[at] ?? 0];
      if (node === undefined) continue;
      const verdict = check(node);
      if (isRejection(verdict)) this.reject(node.index, verdict);
    }
  }

  end(): void {
    if (this.#rejected === 0) return;
    let kept = 0;
    for (let at = 0; at < this.count; at++) {
      const index = this.indexes[at] ?? 0;
      if (this.#codes[index] === FITS) this.indexes[kept++] = index;
    }
    this.count = kept;
  }
}
