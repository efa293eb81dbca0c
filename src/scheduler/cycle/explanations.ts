/**
 * What was decided about recent pods, and why: each attempt in compact form.
 *
 * 1. Bounded: the oldest attempts are forgotten, a pod with its last one.
 * 2. Kept as it was: later changes of the cluster do not show.
 */
import { type Filtered, partsOf, rejectionOn, type Scored, totalOf } from "../evaluation/index.ts";
import type { PodInfo, Rejection, RejectionCounts } from "../framework/index.ts";
import type { ClusterState } from "../snapshot/index.ts";
import { countRejections } from "./diagnosis.ts";

const MAX_ATTEMPTS = 2_000;
/** Verdicts by node, of all attempts together. */
const MAX_CELLS = 2_000_000;
const BEST = 5;
const MANY_NODES = 100;

export interface Explanation {
  readonly key: string;
  readonly atMs: number;
  readonly attempt: number;
  readonly outcome:
    | { readonly kind: "scheduled"; readonly node: string }
    | { readonly kind: "unschedulable"; readonly message: string; readonly nominated?: string }
    | { readonly kind: "error"; readonly message: string };
  readonly nodeCount: number;
  readonly fitting: number;
  /** How many nodes each rejection stands for. Of a pod that has found its place on a large cluster: none. */
  readonly rejections: readonly { readonly rejection: Rejection; readonly nodes: number }[];
  /** The best nodes, best first, with what each plugin gave, weighted. */
  readonly best: readonly {
    readonly node: string;
    readonly total: number;
    readonly parts: Readonly<Record<string, number>>;
  }[];
  /** Of one node; undefined if the pod fits there, or if it is not known any more. */
  verdictOn(node: string): Rejection | undefined;
}

/** Codes of many attempts lie in one array: one for each would cost more than the decision that it explains. */
const CODES_AT_ONCE = 64 * 1024;

class CodeCopies {
  #room = new Uint16Array(0);

  of(codes: Uint16Array): Uint16Array {
    const { length } = codes;
    if (length > CODES_AT_ONCE) return codes.slice();
    if (length > this.#room.length) this.#room = new Uint16Array(CODES_AT_ONCE);
    const copy = this.#room.subarray(0, length);
    copy.set(codes);
    this.#room = this.#room.subarray(length);
    return copy;
  }
}

export class Explanations {
  readonly copies = new CodeCopies();
  readonly #attempts = new Map<string, Explanation[]>();
  /** The oldest first, from `#from` on. */
  #order: { readonly uid: string; readonly cells: number }[] = [];
  #from = 0;
  #cells = 0;

  /** Of a pod, by uid: the oldest attempt first. */
  of(uid: string): readonly Explanation[] {
    return this.#attempts.get(uid) ?? [];
  }

  add(uid: string, explanation: Explanation, cells: number): void {
    const attempts = this.#attempts.get(uid);
    if (attempts === undefined) this.#attempts.set(uid, [explanation]);
    else attempts.push(explanation);
    this.#order.push({ uid, cells });
    this.#cells += cells;
    while (this.#kept > MAX_ATTEMPTS || (this.#cells > MAX_CELLS && this.#kept > 1)) this.#forget();
  }

  /** An attempt that ended in another way than by a verdict on the nodes, or after it. */
  addFailure(
    { key, uid }: Pick<PodInfo, "key" | "uid">,
    about: Pick<Explanation, "atMs" | "attempt" | "nodeCount"> & { readonly outcome: Explanation["outcome"] },
  ): void {
    this.add(uid, { key, ...about, fitting: 0, rejections: [], best: [], verdictOn: () => undefined }, 0);
  }

  get #kept(): number {
    return this.#order.length - this.#from;
  }

  #forget(): void {
    const oldest = this.#order[this.#from];
    if (oldest === undefined) return;
    this.#from += 1;
    if (this.#from > MAX_ATTEMPTS) {
      this.#order = this.#order.slice(this.#from);
      this.#from = 0;
    }
    this.#cells -= oldest.cells;
    const attempts = this.#attempts.get(oldest.uid);
    attempts?.shift();
    if (attempts?.length === 0) this.#attempts.delete(oldest.uid);
  }
}

export interface Explained {
  readonly atMs: number;
  readonly attempt: number;
  readonly outcome: Explanation["outcome"];
  readonly filtered: Filtered;
  /** Where they have been counted already. */
  readonly counted?: RejectionCounts | undefined;
  /** With the index of the node that was chosen. */
  readonly scored?: { readonly scored: Scored; readonly chosen: number } | undefined;
}

/** Who was rejected where is kept only for a pod that has found no place: of others, how many, where there are few nodes. */
export function explain(
  state: ClusterState,
  { copies }: Pick<Explanations, "copies">,
  { atMs, attempt, outcome, filtered, counted, scored }: Explained,
): { readonly explanation: Explanation; readonly cells: number } {
  const names = state.nodeNames;
  const keeps = outcome.kind === "unschedulable";
  const codes = keeps ? copies.of(filtered.codes.subarray(0, names.length)) : undefined;
  const kept = codes && { ...filtered, codes };
  const some = filtered.rejection === undefined && filtered.count < state.nodeCount;
  // Of a large cluster nobody counts who was rejected for a pod that has found its place: that would cost more than the decision.
  const counts = some && (keeps || state.nodeCount <= MANY_NODES);
  return {
    cells: codes?.length ?? 0,
    explanation: {
      key: filtered.pod.key,
      atMs,
      attempt,
      outcome,
      nodeCount: state.nodeCount,
      fitting: filtered.count,
      rejections: counts
        ? (counted ?? countRejections(filtered, state)).map(([rejection, nodes]) => ({ rejection, nodes }))
        : [],
      best: scored === undefined ? [] : bestOf(scored.scored, scored.chosen, names),
      verdictOn: (node) => kept && rejectionOn(kept, names.indexOf(node)),
    },
  };
}

/** Of a large cluster only the node that was chosen: looking for the runners-up would cost more than the decision. */
function bestOf(scored: Scored, chosen: number, names: readonly string[]): Explanation["best"] {
  const { nodes } = scored;
  const all = nodes.count > MANY_NODES ? [chosen] : [...nodes.indexes.subarray(0, nodes.count)];
  return all
    .sort((a, b) => totalOf(scored, b) - totalOf(scored, a) || Number(b === chosen) - Number(a === chosen))
    .slice(0, BEST)
    .map((index) => ({ node: names[index] ?? "", total: totalOf(scored, index), parts: partsOf(scored, index) }));
}
