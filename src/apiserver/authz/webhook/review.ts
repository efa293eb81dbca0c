/** Attributes as a SubjectAccessReview, version v1 or v1beta1. */
import type { JsonObject, LabelOperator, authorization as review } from "#api";
import type { Attributes } from "../attributes.ts";

export type ReviewVersion = "v1" | "v1beta1";

export function reviewSpec(attributes: Attributes): review.SubjectAccessReviewSpec {
  const { user, verb, path } = attributes;
  return {
    ...(attributes.isResourceRequest
      ? { resourceAttributes: reviewedResource(attributes) }
      : { nonResourceAttributes: dropEmpty({ path, verb }) }),
    ...dropEmpty({ user: user.name }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(user.extra !== undefined && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    ...dropEmpty({ uid: user.uid ?? "" }),
  };
}

/** The whole object. In v1beta1 the groups have another name. */
export function reviewObject(spec: review.SubjectAccessReviewSpec, version: ReviewVersion): JsonObject {
  const { groups, ...others } = spec;
  const written = version === "v1" || groups === undefined ? spec : { ...others, group: groups };
  const object = {
    kind: "SubjectAccessReview",
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: written,
    status: { allowed: false },
  };
  return object as unknown as JsonObject;
}

const LABEL_OPERATORS: Readonly<Partial<Record<LabelOperator, string>>> = {
  "=": "In",
  "==": "In",
  in: "In",
  "!=": "NotIn",
  notin: "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
};

function reviewedResource(attributes: Attributes): review.ResourceAttributes {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name, selectors } = attributes;
  const fields = selectors.field.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === "=" ? "In" : "NotIn",
    values: [value],
  }));
  // Requirements that the API cannot express are dropped, which asks for more.
  const labels = selectors.label.flatMap(({ key, operator, values }) => {
    const known = LABEL_OPERATORS[operator];
    return known === undefined ? [] : [{ key, operator: known, ...(values.length > 0 && { values }) }];
  });
  return {
    ...dropEmpty({ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
}

function dropEmpty<T extends Readonly<Record<string, string>>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as Partial<T>;
}
