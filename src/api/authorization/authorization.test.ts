import { expect, it } from "vitest";
import { at, fieldErrorText } from "../machinery/errors/field-error.ts";
import { authorizationKinds } from "./index.ts";

const resourceAttributes = { verb: "get", resource: "pods", namespace: "ns" };

it.each<[string, object, readonly string[], object?]>([
  ["SubjectAccessReview", { user: "u", resourceAttributes }, []],
  [
    "SubjectAccessReview",
    { resourceAttributes },
    ['spec.user: Invalid value: "": at least one of user or group must be specified'],
  ],
  [
    "SelfSubjectAccessReview",
    {},
    [
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
    ],
  ],
  [
    "SelfSubjectAccessReview",
    { resourceAttributes, nonResourceAttributes: {} },
    [
      'spec.nonResourceAttributes: Invalid value: {"Path":"","Verb":""}: cannot be specified in combination with resourceAttributes',
    ],
  ],
  [
    "LocalSubjectAccessReview",
    { user: "u", resourceAttributes: { namespace: "other" } },
    ['spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'],
  ],
  [
    "LocalSubjectAccessReview",
    { user: "u", nonResourceAttributes: { path: "/x" } },
    ['spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: disallowed on this kind of request'],
    { namespace: "ns" },
  ],
  [
    "LocalSubjectAccessReview",
    { user: "u", resourceAttributes },
    ['metadata: Invalid value: {"name":"n","namespace":"ns"}: must be empty except for namespace'],
    { name: "n", namespace: "ns" },
  ],
  [
    "SubjectAccessReview",
    { user: "u", resourceAttributes },
    ['metadata: Invalid value: {"name":"n","managedFields":[]}: must be empty'],
    { name: "n", managedFields: [] },
  ],
  ["SelfSubjectAccessReview", { resourceAttributes }, [], { managedFields: [] }],
  ["SelfSubjectRulesReview", {}, ["spec.namespace: Required value"]],
])("%s of %j", (name, spec, want, metadata = {}) => {
  const kind = authorizationKinds.find((one) => one.kind === name);
  if (kind === undefined) throw new Error(`there is no ${name}`);
  expect(kind.validate?.({ metadata, spec } as never, at()).map(fieldErrorText)).toEqual(want);
});
