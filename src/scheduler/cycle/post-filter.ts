/** What plugins can do about a pod that fits nowhere: the first that finds a way is taken at its word. */
import {
  type ClusterView,
  type Evaluator,
  FITS,
  type Filtered,
  type NodeInfo,
  type NoFit,
  type PostFiltered,
  rejectionOn,
  UNSEEN,
} from "../framework/index.ts";
import type { Parts } from "./parts.ts";

export interface PostFilterOutcome {
  readonly message: string;
  /** See FailedAttempt. */
  readonly nominate: string | undefined;
}

export function postFilter(
  { state, signal }: Parts,
  evaluator: Evaluator,
  filtered: Filtered,
): PostFilterOutcome | Promise<PostFilterOutcome> {
  const failed = noFit(evaluator, filtered, state);
  const messages: string[] = [];
  let clears = false;
  const { postFilter: plugins } = evaluator.stages;
  const take = (result: PostFiltered | undefined): PostFilterOutcome | undefined => {
    if (result?.kind === "nominated") return { message: "", nominate: result.node };
    if (result !== undefined) {
      messages.push(result.message);
      clears ||= result.clears;
    }
    return undefined;
  };
  const end = (): PostFilterOutcome => ({ message: messages.join(", "), nominate: clears ? "" : undefined });
  for (const [at, plugin] of plugins.entries()) {
    const result = plugin.postFilter?.(failed, signal);
    if (result instanceof Promise) return later(result, at);
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

function noFit(evaluator: Evaluator, filtered: Filtered, view: ClusterView): NoFit {
  return {
    pod: filtered.pod,
    view,
    rejectionOf: (index) => rejectionOn(filtered, index),
    resolvable: resolvable(filtered, view),
    readsNodesOnly: filtered.prepared.every(({ kind }) => kind === "skip"),
    trial: (node: NodeInfo) => evaluator.trial(filtered, node),
  };
}

/** In the place of the nodes that fit, as there are none: an array of its own would cost more than filling it. */
function resolvable({ codes, table, rejection, indexes: found }: Filtered, view: ClusterView): Int32Array {
  const { nodes } = view;
  let count = 0;
  // Most nodes say the same as the one before.
  let last = -1;
  let helps = rejection?.kind === "unschedulable";
  for (let index = 0; index < nodes.length; index++) {
    const code = codes[index] ?? UNSEEN;
    if (rejection === undefined && code !== last) {
      last = code;
      helps = code !== FITS && code !== UNSEEN && table.rejectionOf(code)?.kind === "unschedulable";
    }
    if (helps && nodes[index] !== undefined) found[count++] = index;
  }
  return found.subarray(0, count);
}
