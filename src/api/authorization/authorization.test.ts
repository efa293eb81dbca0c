import { expect, it } from "vitest";
import { faults } from "../testing/pure-server.ts";
import { authorizationKinds } from "./index.ts";

const resourceAttributes = { verb: "get", resource: "pods", namespace: "ns" };

it.each<[string, object, readonly string[]]>([
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
      'spec.resourceAttributes: Invalid value: "": exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
  ],
  [
    "SelfSubjectAccessReview",
    { resourceAttributes, nonResourceAttributes: {} },
    ['spec.nonResourceAttributes: Invalid value: "": cannot be specified in combination with resourceAttributes'],
  ],
  [
    "LocalSubjectAccessReview",
    { user: "u", resourceAttributes: { namespace: "other" } },
    ['spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'],
  ],
  ["SelfSubjectRulesReview", {}, ["spec.namespace: Required value"]],
])("%s of %j", (name, spec, want) => {
  const kind = authorizationKinds.find((one) => one.kind === name);
  if (kind === undefined) throw new Error(`there is no ${name}`);
  expect(faults(kind, { spec } as never)).toEqual(want);
});
