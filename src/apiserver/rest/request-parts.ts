/** What several verbs derive from a request. */
import type { JsonObject, KubeObject, RequestFacts } from "#api";
import type { Maybe } from "#base";
import { writeOptionsObject } from "./operation-options.ts";
import type { RestRequest } from "./rest-request.ts";
import type { AdmissionAttributes } from "./server-context.ts";

/** What the rules of a kind get to know of a request. */
export function requestFacts({ context, user }: RestRequest): RequestFacts {
  return { features: context.features, now: context.clock.now(), user: { ...user, extra: user.extra ?? {} } };
}

/** Calls the guard of the resource, if it has one. */
export function guarded(request: RestRequest, object: KubeObject, old?: KubeObject): Maybe<void> {
  const { context, resource } = request;
  const { group, resource: plural } = resource.groupResource;
  const guard = context.access.guards.get(`${group}/${plural}`);
  return guard?.({ request, object, old });
}

export function admissionAttributes(
  request: RestRequest,
  operation: AdmissionAttributes["operation"],
  dryRun: boolean,
  object: KubeObject | undefined,
  old?: KubeObject,
  options?: () => JsonObject,
): AdmissionAttributes {
  const { resource, subresource, namespace, name, user, warn, annotate, witness, life } = request;
  const kind = operation === "CREATE" ? "CreateOptions" : operation === "UPDATE" ? "UpdateOptions" : undefined;
  const asked = options ?? (kind && (() => writeOptionsObject(kind, request.query)));
  return {
    operation,
    resource,
    subresource,
    namespace,
    name: name === "" ? (object?.metadata.name ?? "") : name,
    user,
    dryRun,
    warn,
    annotate,
    witness,
    life,
    object,
    old,
    options: asked,
  };
}
