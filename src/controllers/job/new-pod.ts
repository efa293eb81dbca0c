/**
 * Creates the Pods of a Job, with the tracking finalizer.
 *
 * 1. The Pod of an index has it in a label, an annotation, the host name, the prefix of its name and an environment
 *    variable.
 * 2. With backoffLimitPerIndex, a Pod has the failure count of its index.
 */
import type { batch, core } from "#api";
import { type Pod, podFromTemplate } from "../pods/index.ts";
import {
  COMPLETION_INDEX,
  earlierFailures,
  type FailureCounts,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  TRACKING,
} from "./job-pod.ts";
import { type JobView, judgementOf } from "./job-view.ts";

export const JOB_KIND = { apiVersion: "batch/v1", kind: "Job" } as const;

const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";
/** The length of a name without the generated suffix. */
const MAX_PREFIX = 58;

export function newPod({ job, spec, indexes }: JobView, index: number | undefined, podGroupName?: string): Pod {
  const made = podFromTemplate(spec.template, job, JOB_KIND);
  const pod =
    podGroupName === undefined || made.spec === undefined
      ? made
      : { ...made, spec: { ...made.spec, schedulingGroup: { podGroupName } } };
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), TRACKING])];
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } };
  const { name = "" } = job.metadata;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      finalizers,
      generateName: prefixFor(name, index),
      labels: { ...pod.metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations: {
        ...pod.metadata.annotations,
        [COMPLETION_INDEX]: String(index),
        ...(indexes?.failed !== undefined && failureCounts(spec, indexes.lastFailed.get(index))),
      },
    },
    ...(pod.spec !== undefined && { spec: { ...withIndexVariable(pod.spec), hostname: `${name}-${index}` } }),
  };
}

/** The name is cut before the index. */
function prefixFor(name: string, index: number): string {
  const ending = `-${index}-`;
  return `${name.slice(0, MAX_PREFIX - ending.length)}${ending}`;
}

function withIndexVariable(spec: core.PodSpec): core.PodSpec {
  const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`;
  const extended = (container: core.Container): core.Container =>
    container.env?.some(({ name }) => name === INDEX_VARIABLE) === true
      ? container
      : {
          ...container,
          env: [...(container.env ?? []), { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }],
        };
  return {
    ...spec,
    containers: spec.containers.map(extended),
    ...(spec.initContainers !== undefined && { initContainers: spec.initContainers.map(extended) }),
  };
}

function failureCounts(spec: batch.JobSpec, replaced: Pod | undefined): Readonly<Record<string, string>> {
  const { counted, ignored } = replaced === undefined ? { counted: 0, ignored: 0 } : withItself(spec, replaced);
  return {
    [INDEX_FAILURES]: String(counted),
    ...(ignored > 0 && { [INDEX_IGNORED_FAILURES]: String(ignored) }),
  };
}

function withItself(spec: batch.JobSpec, pod: Pod): FailureCounts {
  const { counted, ignored } = earlierFailures(pod);
  return judgementOf(spec, pod).counts ? { counted: counted + 1, ignored } : { counted, ignored: ignored + 1 };
}
