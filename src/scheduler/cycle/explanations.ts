/**
 * What was decided about recent pods, and why: each attempt in compact form.
 *
 * 1. Bounded: the oldest attempts are forgotten, a pod with its last one.
 * 2. Kept as it was: later changes of the cluster do not show.
 */
import type { Filtered, Rejection, Scored } from "../framework/index.ts";
import { rejectionOn } from "../framework/index.ts";
import type { ClusterState } from "../snapshot/index.ts";
import { countRejections } from "./diagnosis.ts";

const MAX_ATTEMPTS = 2_000;
/** Verdicts by node, of all attempts together. */
const MAX_CELLS = 2_000_000;
const BEST = 5;

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
  /** How many nodes each rejection stands for. */
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

export class Explanations {
  readonly #attempts = new Map<string, Explanation[]>();
  readonly #order: { readonly uid: string; readonly cells: number }[] = [];
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
    while (this.#order.length > MAX_ATTEMPTS || (this.#cells > MAX_CELLS && this.#order.length > 1)) this.#forget();
  }

  #forget(): void {
    const oldest = this.#order.shift();
    if (oldest === undefined) return;
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
  readonly scored?: Scored | undefined;
}

/** Who was rejected where is kept only for a pod that has found no place: of others, how many. */
export function explain(
  state: ClusterState,
  { atMs, attempt, outcome, filtered, scored }: Explained,
): { readonly explanation: Explanation; readonly cells: number } {
  const names = state.nodeNames;
  const keeps = outcome.kind === "unschedulable";
  const codes = keeps ? filtered.codes.slice(0, names.length) : undefined;
  const kept = codes && { ...filtered, codes };
  const some = filtered.rejection === undefined && filtered.count < state.nodeCount;
  return {
    cells: codes?.length ?? 0,
    explanation: {
      key: filtered.pod.key,
      atMs,
      attempt,
      outcome,
      nodeCount: state.nodeCount,
      fitting: filtered.count,
      rejections: some ? countRejections(filtered, state).map(([rejection, nodes]) => ({ rejection, nodes })) : [],
      best: scored === undefined ? [] : bestOf(scored, names),
      verdictOn: (node) => kept && rejectionOn(kept, names.indexOf(node)),
    },
  };
}

function bestOf({ nodes, totals, columns }: Scored, names: readonly string[]): Explanation["best"] {
  const best: number[] = [];
  const { indexes, count } = nodes;
  let worst = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    const total = totals[index] ?? 0;
    if (best.length === BEST && total <= worst) continue;
    best.push(index);
    best.sort((a, b) => (totals[b] ?? 0) - (totals[a] ?? 0));
    best.length = Math.min(best.length, BEST);
    worst = totals[best.at(-1) ?? 0] ?? 0;
  }
  return best.map((index) => ({
    node: names[index] ?? "",
    total: totals[index] ?? 0,
    parts: Object.fromEntries(columns.map((column) => [column.plugin, column.weight * (column.scores[index] ?? 0)])),
  }));
}
