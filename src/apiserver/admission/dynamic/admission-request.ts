/** The AdmissionRequest that webhooks and expressions get, without the objects and the uid. */
import type { JsonObject } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { namespaceOf, type Target, targetOf } from "./target.ts";

/** `target`: the version of the objects; `resource`: that of the rule, if it is another. */
export function admissionRequest(
  attributes: AdmissionAttributes,
  target: Target,
  resource: Target = target,
): JsonObject {
  const { subresource, name, operation, user, dryRun } = attributes;
  const asked = targetOf(attributes);
  const namespace = namespaceOf(attributes);
  const part = (field: string) => (subresource === "" ? {} : { [field]: subresource });
  return {
    kind: { ...target.kind },
    resource: resourceOf(resource),
    ...part("subResource"),
    requestKind: { ...asked.kind },
    requestResource: resourceOf(asked),
    ...part("requestSubResource"),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid !== undefined && user.uid !== "" && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra !== undefined && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun,
    options: attributes.options?.() ?? null,
  };
}

function resourceOf({ resource: { kind } }: Target): JsonObject {
  return { group: kind.group, version: kind.version, resource: kind.names.plural };
}
