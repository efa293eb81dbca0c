/** Runs postFilter plugins for a pod that fits nowhere, until one nominates a node. */
import { isPending, type Maybe } from "#base";
import { type Evaluator, FITS, type Filtered, rejectionOn, UNSEEN } from "../evaluation/index.ts";
import type { ClusterView, NodeInfo, NoFit, PostFiltered, RejectionCounts } from "../framework/index.ts";
import type { Parts } from "./parts.ts";

export interface PostFilterOutcome {
  readonly message: string;
  /** See FailedAttempt. */
  readonly nominate: string | undefined;
}

/** `counts`: rejections with their number of nodes. */
export function postFilter(
  { state, signal }: Parts,
  evaluator: Evaluator,
  filtered: Filtered,
  counts: RejectionCounts,
): Maybe<PostFilterOutcome> {
  const failed = noFit(evaluator, filtered, state, counts);
  const messages: string[] = [];
  const { postFilter: plugins } = evaluator.stages;
  let clears = plugins.length === 0;
  const take = (result: PostFiltered | undefined): PostFilterOutcome | undefined => {
    if (result?.kind === "nominated") return { message: "", nominate: result.node };
    if (result !== undefined) {
      messages.push(result.message);
      clears ||= result.clears;
    }
    return undefined;
  };
  // Without postFilter plugins an earlier nomination is void.
  const end = (): PostFilterOutcome => ({
    message: messages.join(", "),
    nominate: clears || plugins.length === 0 ? "" : undefined,
  });
  for (const [at, plugin] of plugins.entries()) {
    const result = plugin.postFilter?.(failed, signal);
    if (isPending(result)) return later(result, at);
    const outcome = take(result);
    if (outcome !== undefined) return outcome;
  }
  return end();

  async function later(first: Promise<PostFiltered>, from: number): Promise<PostFilterOutcome> {
    let outcome = take(await first);
    for (const plugin of plugins.slice(from + 1)) outcome ??= take(await plugin.postFilter?.(failed, signal));
    return outcome ?? end();
  }
}

function noFit(evaluator: Evaluator, filtered: Filtered, view: ClusterView, counts: RejectionCounts): NoFit {
  return {
    pod: filtered.pod,
    view,
    rejectionOf: (index) => rejectionOn(filtered, index),
    ...resolvable(filtered, view, counts),
    readsNodesOnly: filtered.prepared.every(({ kind }) => kind === "skip"),
    trial: (node: NodeInfo) => evaluator.trial(filtered, node),
  };
}

/** Computed lazily: of thousands of nodes only hundreds are asked for. */
function resolvable(
  { codes, table, rejection }: Filtered,
  { nodes, nodeCount }: ClusterView,
  counts: RejectionCounts,
): Pick<NoFit, "resolvable" | "isResolvable"> {
  if (rejection !== undefined) {
    const helps = rejection.kind === "unschedulable";
    return { resolvable: helps ? nodeCount : 0, isResolvable: (index) => helps && nodes[index] !== undefined };
  }
  let sum = 0;
  for (const [{ kind }, count] of counts) if (kind === "unschedulable") sum += count;
  // Neighbouring nodes mostly have the same code.
  let last = -1;
  let helps = false;
  const isResolvable = (index: number) => {
    const code = codes[index] ?? UNSEEN;
    if (code !== last) {
      last = code;
      helps = code !== FITS && code !== UNSEEN && table.rejectionOf(code)?.kind === "unschedulable";
    }
    return helps;
  };
  return { resolvable: sum, isResolvable };
}
