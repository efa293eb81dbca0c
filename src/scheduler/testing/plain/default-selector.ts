/** The selector of default spread constraints: the Pods of the Pod's Services and of its controller. */
import { type apps, type core, type LabelMatcher, type LabelRequirement, matcherOf, matcherOfSelector } from "#api";
import { labelsOf, type PlainCluster } from "./cluster.ts";

/** Undefined if the Pod has neither. */
export function defaultSelector(pod: core.Pod, cluster: PlainCluster): LabelMatcher | undefined {
  const requirements = [...ofServices(pod, cluster), ...ofController(pod, cluster)];
  return requirements.length === 0 ? undefined : matcherOf(requirements);
}

function ofServices(pod: core.Pod, { services = [] }: PlainCluster): readonly LabelRequirement[] {
  const labels = labelsOf(pod);
  return services
    .filter(({ metadata }) => metadata.namespace === pod.metadata.namespace)
    .map(({ spec }) => Object.entries(spec?.selector ?? {}))
    .filter((wanted) => wanted.every(([key, value]) => labels[key] === value))
    .flat()
    .map(equal);
}

function ofController(pod: core.Pod, cluster: PlainCluster): readonly LabelRequirement[] {
  const owner = (pod.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  if (owner === undefined) return [];
  const isOwner = ({ metadata }: core.ReplicationController | apps.ReplicaSet | apps.StatefulSet) =>
    metadata.name === owner.name && metadata.namespace === pod.metadata.namespace;
  switch (`${owner.apiVersion} ${owner.kind}`) {
    case "v1 ReplicationController": {
      const found = cluster.replicationControllers?.find(isOwner);
      return Object.entries(found?.spec?.selector ?? {}).map(equal);
    }
    case "apps/v1 ReplicaSet":
      return matcherOfSelector(cluster.replicaSets?.find(isOwner)?.spec?.selector).requirements;
    case "apps/v1 StatefulSet":
      return matcherOfSelector(cluster.statefulSets?.find(isOwner)?.spec?.selector).requirements;
    default:
      return [];
  }
}

function equal([key, value]: [string, string]): LabelRequirement {
  return { key, operator: "=", values: [value] };
}
