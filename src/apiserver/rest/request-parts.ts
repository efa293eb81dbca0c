/** Small parts of requests that several verbs read. */
import type { KubeObject, RequestFacts } from "#api";
import type { RestRequest } from "./rest-request.ts";
import type { AdmissionAttributes } from "./server-context.ts";

/** What the rules of a kind may know of a request. */
export function requestFacts({ context, user }: RestRequest): RequestFacts {
  return { now: context.clock.now(), user: { ...user, extra: user.extra ?? {} } };
}

export function admissionAttributes(
  request: RestRequest,
  operation: AdmissionAttributes["operation"],
  dryRun: boolean,
  object: KubeObject | undefined,
  old?: KubeObject,
): AdmissionAttributes {
  const { resource, subresource, namespace, name, user, warn } = request;
  return {
    operation,
    resource,
    subresource,
    namespace,
    name: name === "" ? (object?.metadata.name ?? "") : name,
    user,
    dryRun,
    warn,
    ...(object !== undefined && { object }),
    ...(old !== undefined && { old }),
  };
}
