/**
 * The Workload and the PodGroup of a Job whose Pods are scheduled as a gang (gate WorkloadWithJob).
 *
 *     parallel and Indexed, a Pod for each completion ──► Workload ══► PodGroup ══► Pods that name it
 *
 * 1. Only a Job that has never started gets them: Pods that exist are not in a group.
 * 2. Objects that somebody else has made for the Job are not touched: then its Pods are scheduled one by one.
 */
import { optional, type schedulingV1alpha2 } from "#api";
import { ownedBy, type Write } from "../runtime/index.ts";
import { fnv32a, safeName } from "../template-hash/index.ts";
import { conditionOf, type Job } from "./job-view.ts";
import { JOB_KIND } from "./new-pod.ts";

type Workload = schedulingV1alpha2.Workload;
type PodGroup = schedulingV1alpha2.PodGroup;

const WORKLOAD_KIND = { apiVersion: "scheduling.k8s.io/v1alpha2", kind: "Workload" } as const;
const MAX_NAME = 253;

export type GangOf =
  /** The Job's Pods are scheduled one by one. */
  | { readonly kind: "none" }
  | { readonly kind: "missing"; readonly create: Write }
  | { readonly kind: "ready"; readonly podGroupName: string };

const NONE: GangOf = { kind: "none" };

export interface KnownGangs {
  /** Workloads whose controllerRef names the Job. */
  readonly workloads: readonly Workload[];
  /** PodGroups that refer to a Workload, by its name. */
  groupsOf(workload: string): readonly PodGroup[];
}

/** `hasPods`: the Job has Pods, whatever their state. */
export function gangOf(job: Job, hasPods: boolean, { workloads, groupsOf }: KnownGangs): GangOf {
  if (!isGang(job)) return NONE;
  const [workload, ...more] = workloads;
  if (more.length > 0) return NONE;
  if (workload === undefined) {
    if (!isNew(job, hasPods)) return NONE;
    return { kind: "missing", create: { verb: "create", resource: optional.Workload, object: newWorkload(job) } };
  }
  if (!isControlledBy(workload, job) || workload.spec.podGroupTemplates.length !== 1) return NONE;
  const [group, ...others] = groupsOf(workload.metadata.name ?? "");
  if (others.length > 0) return NONE;
  if (group === undefined) {
    if (hasPods) return NONE;
    return {
      kind: "missing",
      create: { verb: "create", resource: optional.PodGroup, object: newGroup(job, workload) },
    };
  }
  return isControlledBy(group, job) ? { kind: "ready", podGroupName: group.metadata.name ?? "" } : NONE;
}

function isGang({ spec }: Job): boolean {
  const { parallelism = 1, completions, completionMode, template } = spec ?? { template: {} };
  const isParallel = parallelism > 1 && completionMode === "Indexed" && completions === parallelism;
  return isParallel && template.spec?.schedulingGroup === undefined;
}

function isNew({ spec, status }: Job, hasPods: boolean): boolean {
  const { startTime, succeeded = 0, failed = 0 } = status ?? {};
  const hasStarted = hasPods || startTime !== undefined || succeeded > 0 || failed > 0;
  return !hasStarted && spec?.suspend !== true && conditionOf(status, "Suspended") === undefined;
}

function isControlledBy({ metadata }: Workload | PodGroup, job: Job): boolean {
  return (
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === job.metadata.uid) === true
  );
}

function newWorkload(job: Job): Workload {
  const { name = "", namespace = "", uid = "" } = job.metadata;
  const hash = safeName(fnv32a(uid));
  return {
    metadata: {
      name: `${name.slice(0, MAX_NAME - hash.length - 1)}-${hash}`,
      namespace,
      ownerReferences: [ownedBy(job, JOB_KIND)],
    },
    spec: {
      controllerRef: { apiGroup: "batch", kind: "Job", name },
      podGroupTemplates: [
        {
          // A template has the name of a label.
          name: `${name.slice(0, 63 - "-pgt-0".length)}-pgt-0`,
          schedulingPolicy: { gang: { minCount: job.spec?.parallelism ?? 1 } },
        },
      ],
    },
  };
}

function newGroup(job: Job, { metadata, spec }: Workload): PodGroup {
  const { name: workload = "", uid = "" } = metadata;
  const [template] = spec.podGroupTemplates;
  const templateName = template?.name ?? "";
  const hash = safeName(fnv32a(workload, templateName));
  const room = MAX_NAME - hash.length - templateName.length - 2;
  return {
    metadata: {
      name: `${workload.slice(0, room)}-${templateName}-${hash}`,
      namespace: job.metadata.namespace ?? "",
      ownerReferences: [ownedBy(job, JOB_KIND), { ...WORKLOAD_KIND, name: workload, uid }],
    },
    spec: {
      podGroupTemplateRef: { workload: { workloadName: workload, podGroupTemplateName: templateName } },
      schedulingPolicy: template?.schedulingPolicy ?? {},
    },
  };
}
