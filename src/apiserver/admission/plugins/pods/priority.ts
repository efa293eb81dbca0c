/** Priority: sets a Pod's priority from its PriorityClass. At most one class is the global default. */
import type { core, scheduling } from "#api";
import { type AdmissionPlugin, type Admit, type ClusterView, podOf, refused, rule } from "../../chain/plugin.ts";

type PriorityClass = scheduling.PriorityClass;

const CLASSES = ["scheduling.k8s.io", "v1", "priorityclasses"] as const;
const PREEMPT = "PreemptLowerPriority";

const setPriority: Admit = (attributes, cluster) => {
  const { spec } = podOf(attributes);
  const asked = spec.priorityClassName ?? "";
  const found = asked === "" ? globalDefault(cluster) : cluster.get<PriorityClass>(...CLASSES, "", asked);
  if (asked !== "" && found === undefined) throw refused(attributes, `no PriorityClass with name ${asked} was found`);
  if (found?.metadata.name !== undefined) spec.priorityClassName = found.metadata.name;
  const value = found?.value ?? 0;
  const computed = (wanted: number | string) =>
    `must not be provided in pod spec; priority admission controller computed ${wanted} from the given PriorityClass name`;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refused(attributes, `the integer value of priority (${spec.priority}) ${computed(value)}`);
  }
  spec.priority = value;
  const policy = found?.preemptionPolicy ?? PREEMPT;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refused(attributes, `the string value of PreemptionPolicy (${spec.preemptionPolicy}) ${computed(policy)}`);
  }
  spec.preemptionPolicy = policy;
};

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

export const priority: AdmissionPlugin = {
  name: "Priority",
  mutates: [rule("CREATE", "pods", setPriority), rule("UPDATE", "pods", keepPriority)],
  validates: [rule("CREATE UPDATE", "priorityclasses.scheduling.k8s.io", onlyOneDefault)],
};

/** Of several, which only a race can create, the lowest counts. */
function globalDefault(cluster: ClusterView): PriorityClass | undefined {
  let lowest: PriorityClass | undefined;
  for (const each of cluster.list<PriorityClass>(...CLASSES)) {
    const isLower = lowest === undefined || (each.value ?? 0) < (lowest.value ?? 0);
    if (each.globalDefault === true && isLower) lowest = each;
  }
  return lowest;
}
