/** What plugins can do about a pod that fits nowhere: the first that finds a way is taken at its word. */
import { isPending, type Maybe } from "#base";
import { type Evaluator, FITS, type Filtered, rejectionOn, UNSEEN } from "../evaluation/index.ts";
import type { ClusterView, NodeInfo, NoFit, PostFiltered, RejectionCounts } from "../framework/index.ts";
import type { Parts } from "./parts.ts";

export interface PostFilterOutcome {
  readonly message: string;
  /** See FailedAttempt. */
  readonly nominate: string | undefined;
}

/** `counts`: of the rejections. */
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
  // Where nobody could do anything, nobody keeps a promise either.
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

/** Which they are is found out only of those that somebody asks about: of thousands, hundreds. */
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
  // Most nodes say the same as the one before.
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
