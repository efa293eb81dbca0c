/**
 * Which Pods a term of Pod affinity selects.
 *
 * 1. Without `namespaces` and `namespaceSelector` it selects Pods of the owner's namespace; an empty
 *    `namespaceSelector` selects all namespaces.
 * 2. `matchLabelKeys` and `mismatchLabelKeys` are not read: the API server merges them into the selector.
 */
import { type core, matcherOfSelector } from "#api";
import { labelsOf, type PlainCluster } from "./cluster.ts";

export function matchesTerm(
  term: core.PodAffinityTerm,
  owner: core.Pod,
  other: core.Pod,
  { namespaces = [] }: PlainCluster,
): boolean {
  if (!matcherOfSelector(term.labelSelector).matches(labelsOf(other))) return false;
  const namespace = other.metadata.namespace ?? "";
  const named = term.namespaces ?? [];
  if (named.length === 0 && term.namespaceSelector === undefined) return namespace === (owner.metadata.namespace ?? "");
  if (named.includes(namespace)) return true;
  const object = namespaces.find(({ metadata }) => metadata.name === namespace);
  return matcherOfSelector(term.namespaceSelector).matches(object === undefined ? {} : labelsOf(object));
}

export function requiredAffinity({ spec }: core.Pod): readonly core.PodAffinityTerm[] {
  return spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

export function requiredAntiAffinity({ spec }: core.Pod): readonly core.PodAffinityTerm[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

export function preferredAffinity({ spec }: core.Pod): readonly core.WeightedPodAffinityTerm[] {
  return spec?.affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
}

export function preferredAntiAffinity({ spec }: core.Pod): readonly core.WeightedPodAffinityTerm[] {
  return spec?.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
}
