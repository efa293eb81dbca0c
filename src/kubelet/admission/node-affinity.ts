/** Whether a node matches a Pod's nodeSelector and required node affinity. */
import type { core } from "#api";

type NodeLike = Pick<core.Node, "metadata">;

export function matchesNode({ spec }: core.Pod, node: NodeLike): boolean {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return selected && (required === undefined || required.nodeSelectorTerms.some((term) => fits(term, node)));
}

/** An empty term matches no node. */
function fits({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm, { metadata }: NodeLike): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { "metadata.name": metadata.name ?? "" };
  return (
    matchExpressions.every((each) => holds(each, metadata.labels?.[each.key])) &&
    matchFields.every((each) => holds(each, fields[each.key]))
  );
}

function holds({ operator, values = [] }: core.NodeSelectorRequirement, found: string | undefined): boolean {
  switch (operator) {
    case "In":
      return found !== undefined && values.includes(found);
    case "NotIn":
      return found === undefined || !values.includes(found);
    case "Exists":
      return found !== undefined;
    case "DoesNotExist":
      return found === undefined;
    case "Gt":
      return found !== undefined && Number(found) > Number(values[0]);
    case "Lt":
      return found !== undefined && Number(found) < Number(values[0]);
  }
}
