/** Compiles inter-pod affinity, anti-affinity and topology spread constraints. */
import {
  type core,
  type LabelMatcher,
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  matcherOf,
  matcherOfSelector,
  nothing,
} from "#api";
import type { PodSelector, PodTerm, PodTerms, SpreadConstraint, WeightedPodTerm } from "../framework/index.ts";

export const NO_TERMS: PodTerms = Object.freeze({ required: [], requiredAnti: [], preferred: [] });

export function termsOf({ metadata, spec }: core.Pod): PodTerms {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return NO_TERMS;
  const { namespace = "" } = metadata;
  const one = (term: core.PodAffinityTerm) => podTerm(term, namespace);
  const weighted = (sign: 1 | -1) => (preference: core.WeightedPodAffinityTerm) => ({
    ...podTerm(preference.podAffinityTerm, namespace),
    weight: sign * preference.weight,
  });
  const preferred: WeightedPodTerm[] = [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted(1)),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted(-1)),
  ];
  return {
    required: (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(one),
    requiredAnti: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(one),
    preferred,
  };
}

/** Without namespaces and namespaceSelector, a term selects pods of the pod's own namespace. */
function podTerm(term: core.PodAffinityTerm, own: string): PodTerm {
  const { topologyKey, namespaces = [], namespaceSelector, labelSelector } = term;
  const named = namespaces.length === 0 && namespaceSelector === undefined ? [own] : namespaces;
  const select = podSelector(named, matcher(labelSelector), matcher(namespaceSelector));
  return { key: `${topologyKey}\0${select.key}`, topologyKey, select };
}

export function podSelector(
  namespaces: readonly string[],
  selector: LabelMatcher,
  namespaceSelector: LabelMatcher = nothing,
): PodSelector {
  const sorted = namespaces.toSorted();
  const key = JSON.stringify([sorted, textOf(namespaceSelector), textOf(selector)]);
  return { key, namespaces: new Set(sorted), namespaceSelector, selector };
}

function textOf(selector: LabelMatcher): string {
  return selector.nothing ? "-" : selector.toString();
}

/** An invalid selector matches nothing. */
export function matcher(selector: LabelSelector | undefined): LabelMatcher {
  try {
    return matcherOfSelector(selector);
  } catch (error) {
    if (error instanceof LabelSelectorError) return nothing;
    throw error;
  }
}

export function spreadOf({ metadata, spec }: core.Pod): readonly SpreadConstraint[] {
  const { namespace = "", labels = {} } = metadata;
  return (spec?.topologySpreadConstraints ?? []).map((constraint) =>
    spreadConstraint(constraint, podSelector([namespace], withLabelKeys(constraint, labels))),
  );
}

export function spreadConstraint(constraint: core.TopologySpreadConstraint, select: PodSelector): SpreadConstraint {
  const { topologyKey, maxSkew, minDomains = 1, whenUnsatisfiable } = constraint;
  const { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" } = constraint;
  return {
    topologyKey,
    maxSkew,
    minDomains,
    hard: whenUnsatisfiable === "DoNotSchedule",
    select,
    honorsNodeAffinity: nodeAffinityPolicy === "Honor",
    honorsTaints: nodeTaintsPolicy === "Honor",
  };
}

/** Adds `matchLabelKeys`, for pods that were created before API servers merged them into the selector. */
function withLabelKeys(
  { labelSelector, matchLabelKeys = [] }: core.TopologySpreadConstraint,
  labels: Readonly<Record<string, string>>,
): LabelMatcher {
  const base = matcher(labelSelector);
  const own = matchLabelKeys.flatMap((key): LabelRequirement[] => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: "in", values: [value] }];
  });
  return own.length === 0 || base.nothing ? base : matcherOf([...base.requirements, ...own]);
}
