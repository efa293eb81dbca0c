/**
 * JobValidation: the parallelism of a Job stays as it is while its PodGroup is scheduled as a gang.
 *
 * 1. The PodGroup is the one that the Job's template names, or else one that the Job controls.
 */
import { type batch, goQuote } from "#api";
import { type AdmissionPlugin, type ClusterView, refused, rule } from "../../chain/plugin.ts";
import { GROUP, type PodGroup, VERSION } from "./scheduling-objects.ts";

export const jobValidation: AdmissionPlugin = {
  name: "JobValidation",
  validates: [
    rule("UPDATE", "jobs.batch", (attributes, cluster) => {
      const [job, old] = [attributes.object as batch.Job, attributes.old as batch.Job];
      if (job.spec?.parallelism === old.spec?.parallelism) return;
      const gang = groupsOf(old, cluster).find(({ spec }) => spec?.schedulingPolicy?.gang !== undefined);
      if (gang === undefined) return;
      const name = goQuote(gang.metadata.name ?? "");
      throw refused(attributes, `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${name}`);
    }),
  ],
};

function groupsOf({ metadata, spec }: batch.Job, cluster: ClusterView): readonly PodGroup[] {
  const namespace = metadata.namespace ?? "";
  const named = spec?.template?.spec?.schedulingGroup?.podGroupName;
  if (named !== undefined) {
    const group = cluster.get<PodGroup>(GROUP, VERSION, "podgroups", namespace, named);
    return group === undefined ? [] : [group];
  }
  return cluster
    .listIn<PodGroup>(GROUP, VERSION, "podgroups", namespace)
    .filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some(({ uid, controller }) => controller === true && uid === metadata.uid),
    );
}
