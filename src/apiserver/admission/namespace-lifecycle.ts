/** Nothing new in a namespace that is not there or is going away; the namespaces that every cluster needs stay. */
import { forbidden, type KubeObject, notFound, StatusError } from "#api";
import type { Resource } from "../rest/resource.ts";
import type { AdmissionPlugin } from "./plugin.ts";

const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);
const NAMESPACES = { group: "", resource: "namespaces" };

export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  mutate({ operation, resource, namespace, name }, cluster) {
    if (operation !== "CREATE" || resource.kind.scope !== "Namespaced") return;
    const find = () => cluster.get("", "v1", "namespaces", "", namespace);
    const check = (found: KubeObject | undefined) => {
      if (found === undefined) throw notFound(NAMESPACES, namespace);
      if (found.metadata.deletionTimestamp !== undefined) throw terminating(resource, namespace, name);
    };
    const found = find();
    if (found !== undefined) return check(found);
    // Another server may have made it a moment ago.
    return cluster.fresh().then(() => check(find()));
  },
  validate({ operation, resource, subresource, name }) {
    if (operation !== "DELETE" || resource.kind.kind !== "Namespace" || subresource !== "" || !IMMORTAL.has(name))
      return;
    throw forbidden(NAMESPACES, name, "this namespace may not be deleted");
  },
};

function terminating(resource: Resource, namespace: string, name: string): StatusError {
  const error = forbidden(
    resource.groupResource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  return new StatusError(error.reason, error.message, {
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
}
