/** PodGroupWorkloadExists: the Workload that a new PodGroup refers to exists, and has the template that it names. */
import { goQuote } from "#api";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";
import { GROUP, type PodGroup, VERSION, type Workload } from "./scheduling-objects.ts";

export const podGroupWorkloadExists: AdmissionPlugin = {
  name: "PodGroupWorkloadExists",
  validates: [
    rule("CREATE", `podgroups.${GROUP}`, async (attributes, cluster) => {
      const reference = (attributes.object as PodGroup).spec?.podGroupTemplateRef?.workload;
      if (reference === undefined) return;
      const { workloadName: name = "", podGroupTemplateName: template = "" } = reference;
      const known = () => cluster.get<Workload>(GROUP, VERSION, "workloads", attributes.namespace, name);
      let workload = known();
      if (workload === undefined) {
        // Both are often created one after the other: the cache may not show the Workload yet.
        await cluster.fresh();
        workload = known();
      }
      const refuse = (why: string) => refused(attributes, `PodGroup rejected: ${why}`);
      if (workload === undefined) throw refuse(`Workload ${goQuote(name)} not found`);
      if (workload.metadata.deletionTimestamp !== undefined) throw refuse(`Workload ${goQuote(name)} is being deleted`);
      if (!(workload.spec?.podGroupTemplates ?? []).some((each) => each.name === template))
        throw refuse(`PodGroupTemplate ${goQuote(template)} not found in Workload ${goQuote(name)}`);
    }),
  ],
};
