/** Budgets, quotas and leases. */
import { calculateUsage, type core, type policy, quotaEvaluators, usedTexts } from "#api";
import type { Call } from "../history.ts";
import { isEnding, isOver, isReady, nameOf, type World } from "../world.ts";
import type { Broken, Invariant } from "./invariant.ts";

export const budgets: Invariant = {
  name: "budgets",
  words: "an eviction leaves as many healthy Pods as PodDisruptionBudgets demand, unless others were lost otherwise",
  begin({ world, history }) {
    const everReady = new Set<string>();
    const evicted = new Set<string>();
    const open = new Set<Call>();
    let read = 0;
    return {
      committed({ object, previous }) {
        const pod = (object ?? previous) as core.Pod | undefined;
        if (pod?.kind !== "Pod" || previous === undefined) return undefined;
        const uid = pod.metadata.uid ?? "";
        if (isReady(pod)) everReady.add(uid);
        const ends = !isEnding(previous) && (object === undefined || isEnding(object));
        for (; read < history.calls.length; read++) {
          const call = history.calls[read];
          if (call?.about.subresource === "eviction") open.add(call);
        }
        for (const call of open) if (call.answer !== undefined) open.delete(call);
        const { namespace, name } = pod.metadata;
        const isEviction = [...open].some(({ about }) => about.name === name && about.namespace === namespace);
        if (!ends || !isEviction) return undefined;
        evicted.add(uid);
        if (!isReady(previous as core.Pod)) return undefined;
        return overdrawn(world, pod, (each) => everReady.has(each) && !evicted.has(each));
      },
    };
  },
};

/** `lost`: Pods that were ready and have not been evicted. */
function overdrawn(world: World, evicted: core.Pod, lost: (uid: string) => boolean): Broken | undefined {
  for (const budget of world.of("PodDisruptionBudget")) {
    const matching = world.of("Pod").filter((pod) => isMatched(pod, budget) && !isOver(pod));
    if (!isMatched(evicted, budget)) continue;
    const { minAvailable } = budget.spec ?? {};
    if (typeof minAvailable !== "number") continue;
    const healthy = matching.filter((pod) => isReady(pod) && !isEnding(pod)).length;
    const others = matching.filter((pod) => (!isReady(pod) || isEnding(pod)) && lost(pod.metadata.uid ?? "")).length;
    if (healthy + others >= minAvailable) continue;
    return {
      says: `${nameOf(evicted)} was evicted, and leaves ${healthy} healthy Pods of ${nameOf(budget)} with minAvailable ${minAvailable}`,
      about: nameOf(evicted),
    };
  }
  return undefined;
}

function isMatched({ metadata }: core.Pod, budget: policy.PodDisruptionBudget): boolean {
  if (metadata.namespace !== budget.metadata.namespace) return false;
  const { matchLabels = {} } = budget.spec?.selector ?? {};
  return Object.entries(matchLabels).every(([name, value]) => metadata.labels?.[name] === value);
}

export const quotas: Invariant = {
  name: "quotas",
  words: "no ResourceQuota is exceeded, and at rest its status says what is used",
  begin: ({ world, cluster }) => ({
    committed({ object, previous }) {
      if (object === undefined || previous !== undefined || object.kind !== "Pod") return undefined;
      for (const quota of world.of("ResourceQuota")) {
        if (quota.metadata.namespace !== object.metadata.namespace) continue;
        const used = usageOf(world, quota, cluster.clock.now());
        for (const [name, hard] of Object.entries(quota.spec?.hard ?? {}))
          if (Number(used[name] ?? 0) > Number(hard))
            return {
              says: `${nameOf(quota)} allows ${hard} ${name}, and ${used[name]} are used`,
              about: nameOf(quota),
            };
      }
      return undefined;
    },
    missing() {
      for (const quota of world.of("ResourceQuota")) {
        const used = usageOf(world, quota, cluster.clock.now());
        for (const name of Object.keys(quota.spec?.hard ?? {}))
          if (used[name] !== quota.status?.used?.[name])
            return {
              says: `${nameOf(quota)} says that ${quota.status?.used?.[name]} ${name} are used, not ${used[name]}`,
              about: nameOf(quota),
            };
      }
      return undefined;
    },
  }),
};

function usageOf(world: World, quota: core.ResourceQuota, now: number): Readonly<Record<string, string>> {
  const evaluators = quotaEvaluators.filter((each) => each.matching(Object.keys(quota.spec?.hard ?? {})).length > 0);
  const { namespace } = quota.metadata;
  const kindOf: Readonly<Record<string, string>> = { pods: "Pod", services: "Service" };
  const objects = ({ plural }: { readonly plural: string }) =>
    world.of(kindOf[plural] ?? plural).filter(({ metadata }) => metadata.namespace === namespace);
  return usedTexts({ used: calculateUsage(quota, evaluators, objects, now), hard: {}, quota: { metadata: {} } });
}

export const oneLeader: Invariant = {
  name: "one-leader",
  words: "of the candidates for a lease at most one leads",
  begin: ({ leaders }) => ({
    always() {
      for (const [lease, leading] of leaders)
        if (leading.size > 1) return { says: `${[...leading].join(" and ")} both lead by the lease ${lease}` };
      return undefined;
    },
  }),
};
