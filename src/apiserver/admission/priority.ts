/** A Pod's priority comes from its PriorityClass; at most one class is the default for all Pods. */
import { type Draft, forbidden, type KubeObject } from "#api";
import { type AdmissionPlugin, type ClusterView, isAbout } from "./plugin.ts";

interface PriorityClass extends KubeObject {
  readonly value: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

interface PodSpec {
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
}

const PREEMPT = "PreemptLowerPriority";

export const priority: AdmissionPlugin = {
  name: "Priority",
  mutate(attributes, cluster) {
    if (!isAbout(attributes, "", "pods")) return;
    const pod = attributes.object as (Draft<KubeObject> & { spec?: PodSpec }) | undefined;
    if (pod?.spec === undefined) return;
    const { spec } = pod;
    if (attributes.operation === "UPDATE") return keepPriority(spec, (attributes.old as typeof pod).spec);
    if (attributes.operation !== "CREATE") return;
    const refuse = (why: string) => forbidden(attributes.resource.groupResource, pod.metadata.name ?? "", why);
    const asked = spec.priorityClassName ?? "";
    const found =
      asked === ""
        ? globalDefault(cluster)
        : cluster.get<PriorityClass>("scheduling.k8s.io", "v1", "priorityclasses", "", asked);
    if (asked !== "" && found === undefined) throw refuse(`no PriorityClass with name ${asked} was found`);
    if (found?.metadata.name !== undefined) spec.priorityClassName = found.metadata.name;
    const value = found?.value ?? 0;
    if (spec.priority !== undefined && spec.priority !== value) {
      throw refuse(
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    }
    spec.priority = value;
    const policy = found?.preemptionPolicy ?? PREEMPT;
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      throw refuse(
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    }
    spec.preemptionPolicy = policy;
  },
  validate(attributes, cluster) {
    if (attributes.operation === "DELETE" || !isAbout(attributes, "scheduling.k8s.io", "priorityclasses")) return;
    const proposed = attributes.object as PriorityClass | undefined;
    if (proposed?.globalDefault !== true) return;
    const other = globalDefault(cluster);
    if (other === undefined || other.metadata.name === proposed.metadata.name) return;
    const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
    throw forbidden(attributes.resource.groupResource, proposed.metadata.name ?? "", why);
  },
};

/** What was computed when the Pod was made stays, for clients that leave it out. */
function keepPriority(spec: PodSpec, old: PodSpec | undefined): void {
  if (old?.priority !== undefined) spec.priority ??= old.priority;
  if (old?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy;
}

/** Of several, which only a race could make, the lowest counts. */
function globalDefault(cluster: ClusterView): PriorityClass | undefined {
  let lowest: PriorityClass | undefined;
  for (const each of cluster.list<PriorityClass>("scheduling.k8s.io", "v1", "priorityclasses")) {
    if (each.globalDefault === true && (lowest === undefined || each.value < lowest.value)) lowest = each;
  }
  return lowest;
}
