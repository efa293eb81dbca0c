/** Policies and bindings to send, for tests. */
import type { DynamicServer } from "../../dynamic/testing/index.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
export const CONFIG_MAPS = { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] };

/** A validating policy `name`, bound under the same name. */
export async function validate(server: DynamicServer, spec: object, binding: object = {}, name = "p"): Promise<void> {
  await send(server, "validatingadmissionpolicies", name, {
    matchConstraints: { resourceRules: [CONFIG_MAPS] },
    ...spec,
  });
  await bind(server, "validating", { validationActions: ["Deny"], ...binding }, name);
}

export async function mutate(server: DynamicServer, spec: object, binding: object = {}, name = "p"): Promise<void> {
  await send(server, "mutatingadmissionpolicies", name, {
    matchConstraints: { resourceRules: [CONFIG_MAPS] },
    reinvocationPolicy: "Never",
    ...spec,
  });
  await bind(server, "mutating", binding, name);
}

export function bind(
  server: DynamicServer,
  sort: "mutating" | "validating",
  spec: object,
  name: string,
  policyName = name,
): Promise<void> {
  return send(server, `${sort}admissionpolicybindings`, name, { policyName, ...spec });
}

async function send(server: DynamicServer, plural: string, name: string, spec: object): Promise<void> {
  const { status, text } = await server.request("POST", `${GROUP}/${plural}`, { body: { metadata: { name }, spec } });
  if (status !== 201) throw new Error(text);
}

export const setting = (expression: string) => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
export const patching = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
