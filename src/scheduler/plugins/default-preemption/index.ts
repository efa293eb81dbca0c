/** DefaultPreemption: evicts pods with lower priority if that lets a pod fit. */
import { kinds } from "#api";
import { isAbort, type Logger } from "#base";
import {
  definePlugin,
  type Extender,
  type NoFit,
  PASS,
  type PluginFactory,
  type PodInfo,
  type PostFiltered,
  reasonsText,
  rejectionsOf,
} from "../../framework/index.ts";
import { Candidates, type Found } from "./candidates.ts";
import { Evictions } from "./evictions.ts";
import { pickCandidate } from "./pick-candidate.ts";
import { isLeaving, preemptForGroup } from "./preempt-for-group.ts";
import { Units } from "./units.ts";
import { type Candidate, candidateOf, noVictimText } from "./victims.ts";

const NAME = "DefaultPreemption";
const rejections = rejectionsOf(NAME);
const MAKING_ROOM = rejections.unresolvable("waiting for the preemption for this pod to be finished");
const NOT_HELPFUL = rejections.unresolvable("Preemption is not helpful for scheduling");

export const defaultPreemption: PluginFactory = {
  name: NAME,
  make({ DefaultPreemption: args }, context) {
    const { clock, random, informers, metrics, extenders, log, view, groups } = context;
    const knowsGroups = groups !== undefined && context.enabled("WorkloadAwarePreemption");
    const units = new Units(knowsGroups ? groups : undefined, view);
    const budgets = informers.of(kinds.PodDisruptionBudget);
    let budgetsEpoch = 0;
    budgets.onChange(() => {
      budgetsEpoch += 1;
    });
    const candidates = new Candidates({
      args,
      random,
      budgets: () => budgets.cache.list(),
      budgetsEpoch: () => budgetsEpoch,
      nowMs: () => clock.now(),
      priorityOf: (pod) => units.priorityOf(pod),
    });
    const evictions = new Evictions(context);
    const begin = (found: readonly Candidate[], pod: PodInfo): PostFiltered => {
      const chosen = pickCandidate(found, clock.now());
      if (chosen === undefined) return rejected("no candidate node for preemption", false);
      evictions.begin(chosen, units.with(chosen.victims), pod);
      return { kind: "nominated", node: chosen.node.name };
    };
    return definePlugin({
      name: NAME,
      // The plugins that rejected the pod wake it; this only gates it meanwhile. Evictions ungates it.
      preEnqueue: ({ uid }) => (evictions.isUnderWay(uid) ? MAKING_ROOM : PASS),
      groupPostFilter(failed) {
        metrics.preemptionAttempts.labels().inc();
        return preemptForGroup(failed, {
          ...{ view, units, evictions },
          budgets: budgets.cache.list(),
          nowMs: clock.now(),
          hasPriority: knowsGroups,
        });
      },
      postFilter(failed, signal) {
        metrics.preemptionAttempts.labels().inc();
        const { pod } = failed;
        const reason = ineligibility(failed);
        if (reason !== undefined) return rejected(reason, false);
        const found = candidates.find(failed);
        if (found.candidates.length === 0) {
          const { faults } = found;
          return faults.length > 0 ? rejected(faultsText(faults), false) : rejected(noneText(failed, found), true);
        }
        const asked = extenders.filter((each) => each.preempt !== undefined && each.isInterested(pod));
        if (asked.length === 0) return begin(found.candidates, pod);
        return agreed(found.candidates, asked, failed, log, signal).then(
          (left) => begin(left, pod),
          (error: unknown) => {
            if (isAbort(error, signal)) throw error;
            return rejected(error instanceof Error ? error.message : String(error), false);
          },
        );
      },
    });
  },
};

function rejected(message: string, clears: boolean): PostFiltered {
  return { kind: "rejected", message: `preemption: ${message}`, clears };
}

/** Why the pod may not preempt now. */
function ineligibility({ pod, view, rejectionOf }: NoFit): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  const node = view.nodeNamed(pod.pod.status?.nominatedNodeName ?? "");
  if (node === undefined || rejectionOf(node.index)?.kind === "unresolvable") return undefined;
  for (const other of node.pods.values()) {
    if (other.priority < pod.priority && isLeaving(other)) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return undefined;
}

function noneText({ view, resolvable }: NoFit, { rejections: tried }: Found): string {
  const others = view.nodeCount - resolvable;
  const counts = [...tried.map((rejection) => [rejection, 1] as const), [NOT_HELPFUL, others] as const];
  const text = reasonsText(counts.filter(([, count]) => count > 0));
  return `0/${view.nodeCount} nodes are available: ${text}`;
}

/** Joins several errors like Go's errors.Join of kube-scheduler. */
function faultsText(faults: readonly string[]): string {
  const distinct = [...new Set(faults)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

/** The candidates that all extenders accept. */
async function agreed(
  found: readonly Candidate[],
  extenders: readonly Extender[],
  { pod, view }: NoFit,
  log: Logger,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  let left = new Map(
    found.map(({ node, victims, harm }) => [node.name, { pods: victims, pdbViolations: harm.violations }]),
  );
  for (const { name, ignorable, preempt } of extenders) {
    if (left.size === 0) break;
    try {
      const next = new Map((await preempt?.(pod, left, signal)) ?? left);
      for (const [node, { pods }] of next) {
        if (pods.length > 0) continue;
        if (!ignorable) throw new Error(noVictimText(node));
        next.delete(node);
      }
      left = next;
    } catch (error) {
      if (!ignorable || isAbort(error, signal)) throw error;
      log.warn("an ignorable extender failed to preempt", { extender: name, pod: pod.key, error });
    }
  }
  return [...left].flatMap(([name, { pods, pdbViolations }]) => {
    const node = view.nodeNamed(name);
    return node === undefined ? [] : [candidateOf(node, pods, pdbViolations)];
  });
}
