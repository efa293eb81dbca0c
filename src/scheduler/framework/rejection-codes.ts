/** Rejections as small numbers, so that the verdicts on all nodes fit into one array of them. */
import type { Rejection } from "./verdict.ts";

/** The pod fits. */
export const FITS = 0;
/** There is no node, or it was not looked at. */
export const UNSEEN = 0xffff;

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

  /** No more of them fit: whoever has kept codes has to start anew. */
  get full(): boolean {
    return this.#rejections.length > UNSEEN / 2;
  }
}
