/** NamespaceExists: refuses writes in a namespace that does not exist. */
import { notFound } from "#api";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";

export const namespaceExists: AdmissionPlugin = {
  name: "NamespaceExists",
  validates: [
    rule(
      "CREATE UPDATE DELETE",
      "*/*",
      ({ namespace }, cluster) => {
        const isThere = () => cluster.get("", "v1", "namespaces", "", namespace) !== undefined;
        if (isThere()) return;
        return cluster.fresh().then(() => {
          if (!isThere()) throw notFound({ group: "", resource: "namespaces" }, namespace);
        });
      },
      { scope: "Namespaced", looks: () => false },
    ),
  ],
};
