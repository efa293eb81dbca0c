/**
 * Recent decisions and their reasons, in compact form, for `k8ts why`.
 *
 * 1. Bounded: the oldest attempts are dropped, and a pod with its last attempt.
 * 2. An explanation does not change with the cluster.
 */
import { type Filtered, partsOf, rejectionOn, type Scored, totalOf } from "../evaluation/index.ts";
import type { PodInfo, Rejection, RejectionCounts } from "../framework/index.ts";
import type { ClusterState } from "../snapshot/index.ts";
import { countRejections } from "./diagnosis.ts";

const MAX_ATTEMPTS = 2_000;
/** Verdicts by node, over all attempts. */
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
  /** Rejections with their number of nodes. Empty for pods that were placed on a large cluster. */
  readonly rejections: readonly { readonly rejection: Rejection; readonly nodes: number }[];
  /** The best nodes, best first, with the weighted score of each plugin. */
  readonly best: readonly {
    readonly node: string;
    readonly total: number;
    readonly parts: Readonly<Record<string, number>>;
  }[];
  /** The rejection on one node; undefined if the pod fits there, or if it is no longer known. */
  verdictOn(node: string): Rejection | undefined;
}

export class Explanations {
  readonly #attempts = new Map<string, Explanation[]>();
  /** Oldest first, beginning at `#from`. */
  #order: { readonly uid: string; readonly cells: number }[] = [];
  #from = 0;
  #cells = 0;

  /** The attempts of a pod, by uid, oldest first. */
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

  /** An attempt that failed without verdicts on nodes, or after them. */
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
  /** The counted rejections, if known. */
  readonly counted?: RejectionCounts | undefined;
  /** With the index of the chosen node. */
  readonly scored?: { readonly scored: Scored; readonly chosen: number } | undefined;
}

/**
 * Rejections by node are kept only for pods without a node; for others only their counts, and only on small clusters.
 */
export function explain(
  state: ClusterState,
  { atMs, attempt, outcome, filtered, counted, scored }: Explained,
): { readonly explanation: Explanation; readonly cells: number } {
  const names = state.nodeNames;
  const keeps = outcome.kind === "unschedulable";
  const codes = keeps ? filtered.codes.slice(0, names.length) : undefined;
  const kept = codes && { ...filtered, codes };
  const some = filtered.rejection === undefined && filtered.count < state.nodeCount;
  // On a large cluster, counting the rejections of a placed pod would cost more than the decision.
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

/** On a large cluster only the chosen node: finding the runners-up would cost more than the decision. */
function bestOf(scored: Scored, chosen: number, names: readonly string[]): Explanation["best"] {
  const { nodes } = scored;
  const all = nodes.count > MANY_NODES ? [chosen] : [...nodes.indexes.subarray(0, nodes.count)];
  return all
    .sort((a, b) => totalOf(scored, b) - totalOf(scored, a) || Number(b === chosen) - Number(a === chosen))
    .slice(0, BEST)
    .map((index) => ({ node: names[index] ?? "", total: totalOf(scored, index), parts: partsOf(scored, index) }));
}
