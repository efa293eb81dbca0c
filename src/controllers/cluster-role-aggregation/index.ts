/** Gives ClusterRoles with an aggregationRule the rules of all ClusterRoles that it selects. */
import { equalJson, type Json, kinds, matcherOfSelector, type rbac } from "#api";
import { defineController, keysFrom } from "../runtime/index.ts";

type Rule = rbac.PolicyRule;

export const clusterRoleAggregation = defineController({
  name: "clusterrole-aggregation-controller",
  bind({ cache }) {
    const roles = cache(kinds.ClusterRole);
    const aggregated = roles.index("aggregated", ({ aggregationRule }) =>
      aggregationRule === undefined ? [] : ["yes"],
    );
    return {
      // Every role may be selected by every aggregationRule, and there are few of those.
      sources: [keysFrom(kinds.ClusterRole, () => aggregated("yes").map(({ metadata }) => metadata.name ?? ""))],
      reconcile(key) {
        const role = roles.get(key);
        if (role?.aggregationRule === undefined) return undefined;
        const rules = aggregatedRules(role, roles.list());
        if (equalJson((role.rules ?? []) as unknown as Json, rules as unknown as Json)) return undefined;
        return { steps: [[{ verb: "update", resource: kinds.ClusterRole, object: { ...role, rules } }]] };
      },
    };
  },
});

/** The rules of the selected roles, ordered by role name, without duplicates. */
export function aggregatedRules(role: rbac.ClusterRole, all: readonly rbac.ClusterRole[]): readonly Rule[] {
  const rules: Rule[] = [];
  const known = new Set<string>();
  const sorted = [...all].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matcher = matcherOfSelector(selector);
    for (const { metadata, rules: theirs = [] } of sorted) {
      if (metadata.name === role.metadata.name || !matcher.matches(metadata.labels ?? {})) continue;
      for (const rule of theirs ?? []) {
        const text = JSON.stringify(rule);
        if (!known.has(text)) rules.push(rule);
        known.add(text);
      }
    }
  }
  return rules;
}
