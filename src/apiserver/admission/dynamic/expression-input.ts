/** The variables of the expressions of webhooks and policies. */
import type { ExpressionInput, Json, KubeObject } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { ClusterView } from "../chain/plugin.ts";
import { admissionRequest } from "./admission-request.ts";
import type { Deciding } from "./deciding.ts";
import { namespaceNamed } from "./selectors.ts";
import { isNamespaces, namespaceOf, targetOf } from "./target.ts";
import type { Versioned } from "./versions.ts";

export interface Inputs {
  /** For match conditions: without the namespace, and with the resource of the request. */
  readonly conditions: ExpressionInput;
  readonly expressions: ExpressionInput;
}

export interface InputParts {
  readonly namespace?: KubeObject | undefined;
  readonly params?: KubeObject | undefined;
}

export function inputsOf(
  attributes: AdmissionAttributes,
  { target, object, old }: Versioned,
  deciding: Deciding,
  { namespace, params }: InputParts = {},
): Inputs {
  const { user, resource, subresource, name } = attributes;
  const { group, resource: plural } = resource.groupResource;
  const about = { group, resource: plural, subresource, namespace: namespaceOf(attributes), name };
  const shared = {
    object: asJson(object),
    oldObject: asJson(old),
    params: asJson(params),
    authorizer: { user, authorize: deciding.ask, resource: about },
  };
  const request = admissionRequest(attributes, target);
  const asked = targetOf(attributes);
  return {
    conditions: {
      ...shared,
      request: target.resource === asked.resource ? request : admissionRequest(attributes, target, asked),
      namespaceObject: null,
    },
    expressions: { ...shared, request, namespaceObject: asJson(namespace) },
  };
}

/** The namespace of the object; undefined for a Namespace. Throws NotFound. */
export function namespaceFor(
  attributes: AdmissionAttributes,
  cluster: ClusterView,
): KubeObject | undefined | Promise<KubeObject> {
  const name = isNamespaces(attributes.resource) ? "" : namespaceOf(attributes);
  return name === "" ? undefined : namespaceNamed(name, cluster);
}

function asJson(object: KubeObject | undefined): Json {
  return (object ?? null) as unknown as Json;
}
