/** Finds the Pods of a selector by one of its labels, without visiting all Pods of the namespace. */
import type { core, LabelMatcher } from "#api";
import type { ReadonlyCache } from "#client";

export type SelectPods = (namespace: string, selector: LabelMatcher) => readonly core.Pod[];

export function podsByLabels(pods: ReadonlyCache<core.Pod>): SelectPods {
  const withLabel = pods.index("label", ({ metadata: { namespace = "", labels = {} } }) =>
    Object.entries(labels).map(([key, value]) => labelKey(namespace, key, value)),
  );
  return (namespace, selector) => {
    if (selector.nothing) return [];
    const exact = selector.requirements.find(({ operator, values }) => isExact(operator) && values.length === 1);
    const candidates =
      exact === undefined
        ? pods.inNamespace(namespace)
        : withLabel(labelKey(namespace, exact.key, exact.values[0] ?? ""));
    return candidates.filter(({ metadata }) => selector.matches(metadata.labels));
  };
}

function isExact(operator: string): boolean {
  return operator === "=" || operator === "==" || operator === "in";
}

function labelKey(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}
