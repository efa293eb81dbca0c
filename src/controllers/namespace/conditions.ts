/** The conditions of a terminating namespace. */
import type { core } from "#api";

type Condition = core.NamespaceCondition;

/** The result of one attempt to empty a namespace. */
export interface Emptying {
  readonly discoveryError?: string | undefined;
  /** Deletions that failed, with their reasons. */
  readonly failures: readonly string[];
  /** Remaining objects by resource: `pods.`, `deployments.apps`. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Remaining objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

export function emptyingConditions(
  emptying: Emptying,
  before: readonly Condition[],
  now: string,
): readonly Condition[] {
  const { discoveryError, failures, remaining, finalizers } = emptying;
  const wanted: Omit<Condition, "lastTransitionTime">[] = [
    discoveryError === undefined
      ? fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered")
      : wrong("NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", discoveryError),
    fine(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    failures.length === 0
      ? fine(
          "NamespaceDeletionContentFailure",
          "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization",
        )
      : wrong(
          "NamespaceDeletionContentFailure",
          "ContentDeletionFailed",
          `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(", ")}`,
        ),
    remaining.size === 0
      ? fine("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed")
      : wrong(
          "NamespaceContentRemaining",
          "SomeResourcesRemain",
          `Some resources are remaining: ${counted(remaining, (name, count) => `${name} has ${count} resource instances`)}`,
        ),
    finalizers.size === 0
      ? fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished")
      : wrong(
          "NamespaceFinalizersRemaining",
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${counted(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        ),
  ];
  const kept = before.filter(({ type }) => !wanted.some((each) => each.type === type));
  return [
    ...kept,
    ...wanted.map((each) => {
      const old = before.find(({ type }) => type === each.type);
      const lastTransitionTime = old?.status === each.status ? (old.lastTransitionTime ?? now) : now;
      return { ...each, lastTransitionTime };
    }),
  ];
}

function fine(type: string, reason: string, message: string) {
  return { type, status: "False", reason, message };
}

function wrong(type: string, reason: string, message: string) {
  return { type, status: "True", reason, message };
}

function counted(counts: ReadonlyMap<string, number>, say: (name: string, count: number) => string): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => say(name, count))
    .join(", ");
}
