/** Nothing new in a namespace that is not there or is going away; the namespaces that every cluster needs stay. */
import { forbidden, notFound, StatusError } from "#api";
import type { AdmissionPlugin } from "./plugin.ts";

const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);
const NAMESPACES = { group: "", resource: "namespaces" };

export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  async mutate({ operation, resource, namespace, name }, cluster) {
    if (operation !== "CREATE" || resource.kind.scope !== "Namespaced") return;
    let found = cluster.get("", "v1", "namespaces", "", namespace);
    if (found === undefined) {
      // Another server may have made it a moment ago.
      await cluster.fresh();
      found = cluster.get("", "v1", "namespaces", "", namespace);
    }
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (found.metadata.deletionTimestamp === undefined) return;
    const error = forbidden(
      resource.groupResource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    throw new StatusError(error.reason, error.message, {
      details: {
        ...error.details,
        causes: [
          {
            reason: "NamespaceTerminating",
            message: `namespace ${namespace} is being terminated`,
            field: "metadata.namespace",
          },
        ],
      },
    });
  },
  validate({ operation, resource, subresource, name }) {
    if (operation !== "DELETE" || resource.kind.kind !== "Namespace" || subresource !== "" || !IMMORTAL.has(name))
      return;
    throw forbidden(NAMESPACES, name, "this namespace may not be deleted");
  },
};
