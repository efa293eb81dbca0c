import { describe, expect, it } from "vitest";
import { create, faults } from "../testing/pure-server.ts";
import { MutatingAdmissionPolicy, ValidatingAdmissionPolicy } from "./policy.ts";
import { ValidatingAdmissionPolicyBinding as Binding } from "./policy-binding.ts";
import { MutatingWebhookConfiguration as Mutating } from "./webhook-configuration.ts";

const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const webhook = {
  name: "a.example.com",
  clientConfig: { url: "https://x/" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};

describe("webhooks", () => {
  it("are asked about everything, must answer, and have ten seconds", () => {
    const { object } = create(Mutating, {
      metadata: { name: "one" },
      webhooks: [{ ...webhook, rules: [rule], clientConfig: { service: { name: "s", namespace: "n" } } }],
    });
    expect(object).toMatchObject({
      webhooks: [
        {
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          timeoutSeconds: 10,
          reinvocationPolicy: "Never",
          rules: [{ scope: "*" }],
          clientConfig: { service: { port: 443 } },
        },
      ],
    });
  });

  it.each<[object, readonly string[]]>([
    [{}, []],
    [
      { rules: [{ ...rule, resources: ["*", "pods"] }] },
      [
        `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
      ],
    ],
    [
      { rules: [{ ...rule, resources: ["pods/*", "pods/log"] }] },
      [
        `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      ],
    ],
    [
      { rules: [{ ...rule, apiGroups: ["*", "apps"] }] },
      [
        `webhooks[0].rules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`,
      ],
    ],
    [
      { clientConfig: { url: "https://u:p@x/#f" } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
      ],
    ],
    [
      { clientConfig: { service: { name: "s", namespace: "n", path: "a" } } },
      [
        `webhooks[0].clientConfig.service.path: Invalid value: "a": must start with a '/'`,
        'webhooks[0].clientConfig.service.path: Invalid value: "a": segment[0] may not be empty',
      ],
    ],
    [
      {
        matchConditions: [
          { name: "a", expression: "true" },
          { name: "a", expression: "" },
        ],
      },
      [
        "webhooks[0].matchConditions[1].expression: Required value",
        'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
      ],
    ],
  ])("%j", (change, want) =>
    expect(faults(Mutating, { webhooks: [{ ...webhook, ...change }] } as never)).toEqual(want),
  );
});

describe("policies", () => {
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] };

  it.each<[object, readonly string[]]>([
    [{}, []],
    [{ matchConstraints: {} }, ["spec.matchConstraints.resourceRules: Required value"]],
    [
      { variables: [{ name: "a-b", expression: "1" }] },
      ['spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier'],
    ],
    [
      { validations: [{ expression: "true", message: "a\nb" }] },
      ['spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks'],
    ],
    [{ paramKind: { apiVersion: "v1", kind: "ConfigMap" }, validations: [{ expression: "params == null" }] }, []],
    [{ validations: [{ expression: "object.a == 1 &&\n  object.b == 2" }] }, []],
    [
      { validations: [{ expression: "true", message: " ", messageExpression: " " }] },
      [
        'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
        'spec.validations[0].message: Invalid value: " ": message must be non-empty if specified',
      ],
    ],
    [
      { validations: [{ expression: "true", messageExpression: "authorizer.path('/').check('get').reason()" }] },
      [
        "spec.validations[0].messageExpression: Invalid value: \"authorizer.path('/').check('get').reason()\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/').check('get').reason()\n | ^",
      ],
    ],
    [
      { variables: [{ name: "namespace", expression: "1" }] },
      ['spec.variables[0].name: Invalid value: "namespace": must be a valid CEL identifier'],
    ],
    [
      {
        variables: [{ name: "n", expression: "1" }],
        validations: [{ expression: "variables.n == 1" }, { expression: "variables.n" }],
      },
      ['spec.validations[1].expression: Invalid value: "variables.n": must evaluate to bool but got int'],
    ],
    [
      {
        variables: [{ name: "n", expression: "1" }],
        matchConditions: [{ name: "c", expression: " variables.n == 1" }],
      },
      [
        "spec.matchConditions[0].expression: Invalid value: \"variables.n == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.n == 1\n | ^",
      ],
    ],
    [
      { auditAnnotations: [{ key: "k", valueExpression: `'${"x".repeat(5200)}'` }] },
      ["spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"],
    ],
  ])("%j", (change, want) =>
    expect(
      faults(ValidatingAdmissionPolicy, { metadata: { name: "p" }, spec: { ...spec, ...change } } as never),
    ).toEqual(want),
  );

  it("mutate in one way", () => {
    const mutations = [{ patchType: "JSONPatch", applyConfiguration: { expression: "1" } }];
    const errors = faults(MutatingAdmissionPolicy, {
      spec: { matchConstraints: spec.matchConstraints, reinvocationPolicy: "Never", mutations },
    });
    expect(errors.map((text) => text.slice(0, text.indexOf(":")))).toEqual([
      "spec.mutations[0].applyConfiguration",
      "spec.mutations[0].jsonPatch",
    ]);
  });
});

it.each<[object, readonly string[]]>([
  [{ validationActions: ["Deny"] }, []],
  [{ validationActions: [] }, ["spec.validationActions: Required value"]],
  [
    { validationActions: ["Deny"], paramRef: { parameterNotFoundAction: "Deny" } },
    ["spec.paramRef: Required value: one of name or selector must be specified"],
  ],
  [{ validationActions: ["Deny"], paramRef: { name: "a" } }, ["spec.paramRef.parameterNotFoundAction: Required value"]],
])("a binding %j", (change, want) =>
  expect(faults(Binding, { spec: { policyName: "p", ...change } } as never)).toEqual(want),
);
