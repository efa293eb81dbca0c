/** Why a pod fits nowhere, with the messages of kube-scheduler. */
import { FITS, type Filtered, UNSEEN } from "../evaluation/index.ts";
import {
  type ClusterView,
  oneNodeText,
  type Rejection,
  type RejectionCounts,
  reasonsText,
} from "../framework/index.ts";

export interface Diagnosis {
  /** "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s)." */
  readonly message: string;
  /** Plugins that rejected the pod: the events that they registered wake it. */
  readonly rejectors: ReadonlySet<string>;
  readonly pending: ReadonlySet<string>;
  /** How many nodes each rejection stands for. */
  readonly counts: RejectionCounts;
}

export const NO_NODES = "no nodes available to schedule pods";

export function diagnose(filtered: Filtered, view: ClusterView): Diagnosis {
  const { rejection, narrowing } = filtered;
  const head = `0/${view.nodeCount} nodes are available:`;
  if (rejection !== undefined) {
    const by = [...narrowing, rejection.plugin];
    return { message: `${head} ${rejection.reasons.join(", ")}.`, ...blame(by, rejection), counts: [] };
  }
  const counts = countRejections(filtered, view);
  const rejectors = new Set(narrowing);
  const pending = new Set<string>();
  for (const [{ plugin, kind }] of counts) {
    if (plugin === "") continue;
    rejectors.add(plugin);
    if (kind === "pending") pending.add(plugin);
  }
  const text = reasonsText(counts);
  return { message: text === "" ? head : `${head} ${text}`, rejectors, pending, counts };
}

function blame(by: readonly string[], { plugin, kind }: Rejection) {
  const rejectors = new Set(by.filter((name) => name !== ""));
  return { rejectors, pending: new Set(kind === "pending" ? [plugin] : []) };
}

/** Of a node that was chosen, by reserve or permit. */
export function diagnoseRefusal(rejection: Rejection): Omit<Diagnosis, "counts"> {
  return { message: oneNodeText(rejection), ...blame([rejection.plugin], rejection) };
}

/** How many nodes each rejection stands for. */
export function countRejections(filtered: Filtered, view: ClusterView): RejectionCounts {
  const { counts, table, unseen } = filtered;
  const counted = counts === undefined ? countCodes(filtered, view) : counts.entries();
  return [...counted].flatMap(([code, count]): [Rejection, number][] => {
    const rejection = code === UNSEEN ? unseen : table.rejectionOf(code);
    return rejection === undefined || count === 0 ? [] : [[rejection, count]];
  });
}

function countCodes({ codes }: Filtered, { nodes }: ClusterView): ReadonlyMap<number, number> {
  // Neighbouring nodes mostly have the same code: runs are counted.
  const counts = new Map<number, number>();
  let run = 0;
  let last = FITS;
  for (let index = 0; index < nodes.length; index++) {
    const found = codes[index] ?? UNSEEN;
    const code = found === UNSEEN && nodes[index] === undefined ? FITS : found;
    if (code !== last) {
      if (last !== FITS) counts.set(last, (counts.get(last) ?? 0) + run);
      last = code;
      run = 0;
    }
    run += 1;
  }
  if (last !== FITS) counts.set(last, (counts.get(last) ?? 0) + run);
  return counts;
}
