/**
 * The condition EvictionInProgress of a DeviceTaintRule, in the words of kube-controller-manager.
 *
 *     NoExecute      how many Pods are still to go; how many have gone since the controller started
 *     None           once for each change of the rule: what NoExecute would do
 *     NoSchedule     nothing is evicted
 */
import { formatTime, instantOf, type meta, optional, type resource } from "#api";
import type { Plan } from "../runtime/index.ts";
import { evictionTime, type Rule, selects, taintsBy } from "./device-taints.ts";

const TYPE = "EvictionInProgress";
/** The shortest time between two updates. */
export const RULE_PERIOD_MS = 10_000;

export interface RuleFacts {
  /** Pods with devices that may be evicted, each with its claims. */
  readonly users: readonly { readonly namespace: string; readonly claims: readonly resource.ResourceClaim[] }[];
  readonly slices: readonly resource.ResourceSlice[];
  readonly claims: readonly resource.ResourceClaim[];
  /** Pods that went because of this rule since the controller started. */
  readonly evicted: number;
  readonly now: number;
}

export function planRuleStatus(rule: Rule, facts: RuleFacts): Plan | undefined {
  const { generation } = rule.metadata;
  const known = rule.status?.conditions?.find(({ type }) => type === TYPE);
  const isCurrent = known !== undefined && known.observedGeneration === generation;
  if (isCurrent && rule.spec.taint.effect === "None") return undefined;
  const waitMs = isCurrent ? Date.parse(known.lastTransitionTime) + RULE_PERIOD_MS - facts.now : 0;
  if (waitMs > 0) return { againAfterMs: waitMs };
  const found = conditionOf(rule, facts);
  if (isCurrent && (["status", "reason", "message"] as const).every((name) => known[name] === found[name]))
    return undefined;
  const condition = {
    type: TYPE,
    ...found,
    ...(generation !== undefined && { observedGeneration: generation }),
    lastTransitionTime: formatTime(instantOf(facts.now)),
  };
  const patch = { metadata: { uid: rule.metadata.uid ?? "" }, status: { conditions: [condition] } };
  const resource = optional.DeviceTaintRule;
  return { steps: [[{ verb: "patch", resource, object: rule, subresource: "status", patch }]] };
}

type Found = Pick<meta.Condition, "status" | "reason" | "message">;

function conditionOf(rule: Rule, facts: RuleFacts): Found {
  const { effect } = rule.spec.taint;
  const gone = facts.evicted > 0 ? `${many(facts.evicted, "pod")} evicted since starting the controller.` : "";
  const said = (text: string) => [text, gone].filter((part) => part !== "").join(" ");
  if (effect === "None") return { status: "False", reason: "NoEffect", message: said(wouldEvict(rule, facts)) };
  if (effect !== "NoExecute")
    return { status: "False", reason: "OtherEffect", message: said("Eviction only happens for the NoExecute effect.") };
  const { pods, namespaces } = pendingFor(rule, facts);
  if (pods === 0) return { status: "False", reason: facts.evicted > 0 ? "Completed" : "NotStarted", message: gone };
  const need = pods === 1 ? "1 pod needs" : `${pods} pods need`;
  const message = said(`${need} to be evicted in ${placesText(namespaces)}.`);
  return { status: "True", reason: "PodsPendingEviction", message };
}

function wouldEvict(rule: Rule, facts: RuleFacts): string {
  const { spec } = rule;
  const { pods, namespaces } = pendingFor(
    { ...rule, spec: { ...spec, taint: { ...spec.taint, effect: "NoExecute" } } },
    facts,
  );
  const published = newest(facts.slices).flatMap(({ spec: { driver, pool, devices = [] } }) =>
    devices.filter(({ name }) => selects(rule, { driver, pool: pool.name, device: name })),
  );
  const allocated = facts.claims
    .flatMap(({ status }) => status?.allocation?.devices?.results ?? [])
    .filter((result) => selects(rule, result));
  return [
    `${many(published.length, "published device")} selected.`,
    `${many(allocated.length, "allocated device")} selected.`,
    `${many(pods, "pod")} would be evicted in ${placesText(namespaces)} if the effect was NoExecute.`,
    "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
  ].join(" ");
}

function pendingFor(rule: Rule, { users, now }: RuleFacts): { readonly pods: number; readonly namespaces: number } {
  const pending = users.filter(
    ({ claims }) => evictionTime(claims, (result) => taintsBy([rule], result), now) !== undefined,
  );
  return { pods: pending.length, namespaces: new Set(pending.map(({ namespace }) => namespace)).size };
}

function newest(slices: readonly resource.ResourceSlice[]): readonly resource.ResourceSlice[] {
  const pools = Map.groupBy(slices, ({ spec }) => `${spec.driver}/${spec.pool.name}`);
  return [...pools.values()].flatMap((all) => {
    const latest = Math.max(...all.map(({ spec }) => Number(spec.pool.generation)));
    return all.filter(({ spec }) => Number(spec.pool.generation) === latest);
  });
}

function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function placesText(namespaces: number): string {
  return namespaces === 1 ? "1 namespace" : `${namespaces} different namespaces`;
}
