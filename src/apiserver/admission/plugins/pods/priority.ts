/** Priority: sets the priority of Pods and PodGroups from their PriorityClass. At most one is the global default. */
import type { core, scheduling } from "#api";
import { type AdmissionPlugin, type Admit, type ClusterView, podOf, refused, rule } from "../../chain/plugin.ts";

type PriorityClass = scheduling.PriorityClass;

const CLASSES = ["scheduling.k8s.io", "v1", "priorityclasses"] as const;
const PREEMPT = "PreemptLowerPriority";

/** What Pods and PodGroups have in common. */
interface Prioritized {
  priorityClassName?: string;
  priority?: number;
}

const setPriority: Admit = (attributes, cluster) => {
  const { spec } = podOf(attributes);
  const found = prioritize(spec, "pod", attributes, cluster);
  const policy = found?.preemptionPolicy ?? PREEMPT;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    const why = computed("pod", policy);
    throw refused(attributes, `the string value of PreemptionPolicy (${spec.preemptionPolicy}) ${why}`);
  }
  spec.preemptionPolicy = policy;
};

const setGroupPriority: Admit = (attributes, cluster) => {
  const { spec } = attributes.object as { readonly spec?: Prioritized };
  if (spec !== undefined) prioritize(spec, "pod group", attributes, cluster);
};

/** Returns the class. */
function prioritize(
  spec: Prioritized,
  what: string,
  attributes: Parameters<Admit>[0],
  cluster: ClusterView,
): PriorityClass | undefined {
  const asked = spec.priorityClassName ?? "";
  const found = asked === "" ? globalDefault(cluster) : cluster.get<PriorityClass>(...CLASSES, "", asked);
  if (asked !== "" && found === undefined) throw refused(attributes, `no PriorityClass with name ${asked} was found`);
  if (found?.metadata.name !== undefined) spec.priorityClassName = found.metadata.name;
  const value = found?.value ?? 0;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refused(attributes, `the integer value of priority (${spec.priority}) ${computed(what, value)}`);
  }
  spec.priority = value;
  return found;
}

function computed(what: string, wanted: number | string): string {
  return `must not be provided in ${what} spec; priority admission controller computed ${wanted} from the given PriorityClass name`;
}

/** Keeps the values that were computed on create, for clients that leave them out. */
const keepPriority: Admit = (attributes) => {
  const { spec } = podOf(attributes);
  const old = (attributes.old as core.Pod).spec;
  if (old?.priority !== undefined) spec.priority ??= old.priority;
  if (old?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy;
};

const onlyOneDefault: Admit = (attributes, cluster) => {
  const proposed = attributes.object as PriorityClass;
  if (proposed.globalDefault !== true) return;
  const other = globalDefault(cluster);
  if (other === undefined || other.metadata.name === proposed.metadata.name) return;
  const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
  throw refused(attributes, why);
};

/** `ofGroups`: the gate WorkloadAwarePreemption. */
export const priority = (ofGroups: boolean): AdmissionPlugin => ({
  name: "Priority",
  mutates: [
    rule("CREATE", "pods", setPriority),
    rule("UPDATE", "pods", keepPriority),
    ...(ofGroups ? [rule("CREATE", "podgroups.scheduling.k8s.io", setGroupPriority)] : []),
  ],
  validates: [rule("CREATE UPDATE", "priorityclasses.scheduling.k8s.io", onlyOneDefault)],
});

/** Of several, which only a race can create, the lowest counts. */
function globalDefault(cluster: ClusterView): PriorityClass | undefined {
  let lowest: PriorityClass | undefined;
  for (const each of cluster.list<PriorityClass>(...CLASSES)) {
    const isLower = lowest === undefined || (each.value ?? 0) < (lowest.value ?? 0);
    if (each.globalDefault === true && isLower) lowest = each;
  }
  return lowest;
}
