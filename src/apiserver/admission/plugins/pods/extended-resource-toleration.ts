/** ExtendedResourceToleration: a Pod that requests an extended resource tolerates the taint of the same name. */
import { isExtendedResource } from "#api";
import { type AdmissionPlugin, podOf, rule } from "../../chain/plugin.ts";

export const extendedResourceToleration: AdmissionPlugin = {
  name: "ExtendedResourceToleration",
  mutates: [
    rule("CREATE UPDATE", "pods", (attributes) => {
      const { spec } = podOf(attributes);
      const asked = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
        Object.keys(resources?.requests ?? {}),
      );
      const names = [...new Set(asked.filter(isExtendedResource))].sort();
      for (const key of names) {
        const present = (spec.tolerations ?? []).some(
          (each) => each.key === key && each.operator === "Exists" && each.effect === "NoSchedule",
        );
        if (!present)
          spec.tolerations = [...(spec.tolerations ?? []), { key, operator: "Exists", effect: "NoSchedule" }];
      }
    }),
  ],
};
