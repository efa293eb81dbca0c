/**
 * NamespaceLifecycle: refuses new objects in a namespace that is missing or terminating, and the deletion of the
 * namespaces that every cluster needs.
 */
import { forbidden, type KubeObject, notFound, StatusError } from "#api";
import { type AdmissionPlugin, type Admit, refused, rule } from "../../chain/plugin.ts";

const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);
const NAMESPACES = { group: "", resource: "namespaces" };

const inLivingNamespace: Admit = (attributes, cluster) => {
  const { namespace } = attributes;
  const find = () => cluster.get("", "v1", "namespaces", "", namespace);
  const check = (found: KubeObject | undefined) => {
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (found.metadata.deletionTimestamp === undefined) return;
    const error = refused(
      attributes,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    throw new StatusError(error.reason, error.message, {
      details: { ...error.details, causes: [terminating(namespace)] },
    });
  };
  const found = find();
  if (found !== undefined) return check(found);
  // Another server may have created it a moment ago.
  return cluster.fresh().then(() => check(find()));
};

const keepsImmortal: Admit = ({ name }) => {
  if (IMMORTAL.has(name)) throw forbidden(NAMESPACES, name, "this namespace may not be deleted");
};

export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  mutates: [
    rule("CREATE", "*/*", inLivingNamespace, { scope: "Namespaced", looks: () => false }),
    rule("DELETE", "namespaces", keepsImmortal),
  ],
};

function terminating(namespace: string) {
  return {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
}
