import { describe, expect, it } from "vitest";
import { typeSchema } from "../facts/index.ts";
import { typeFromFacts, type types } from "../machinery/cel/index.ts";
import type { ValidatingAdmissionPolicy } from "../types/admissionregistration-v1.ts";
import { type CheckedKind, expressionWarnings, resourcesToCheck } from "./type-checking.ts";

const deployment: CheckedKind = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  type: typeFromFacts(typeSchema("io.k8s.api.apps.v1.Deployment"), "Deployment"),
};
const pod: CheckedKind = {
  group: "",
  version: "v1",
  kind: "Pod",
  type: typeFromFacts(typeSchema("io.k8s.api.core.v1.Pod"), "Pod"),
};

function policy(spec: object): ValidatingAdmissionPolicy {
  return { metadata: { name: "p" }, spec };
}

describe("what is checked", () => {
  const rule = (apiGroups: string[], apiVersions: string[], resources: string[]) =>
    policy({ matchConstraints: { resourceRules: [{ apiGroups, apiVersions, resources, operations: ["*"] }] } });
  it.each([
    { name: "nothing", of: policy({}), want: [] },
    { name: "each combination, sorted", of: rule(["b", "a"], ["v1"], ["y", "x"]), want: ["a/x", "a/y", "b/x", "b/y"] },
    { name: "no wildcard groups", of: rule(["*"], ["v1"], ["x"]), want: [] },
    { name: "no wildcard versions", of: rule(["a"], ["*"], ["x"]), want: [] },
    { name: "no subresources and wildcards", of: rule(["a"], ["v1"], ["x", "x/status", "*"]), want: ["a/x"] },
    {
      name: "ten of a rule",
      of: rule(["a"], ["v1"], [..."abcdefghijkl"]),
      want: [..."abcdefghij"].map((x) => `a/${x}`),
    },
  ])("$name", ({ of, want }) => {
    expect(resourcesToCheck(of).map(({ group, resource }) => `${group}/${resource}`)).toEqual(want);
  });
});

describe("warnings", () => {
  const of = (spec: object, kinds = [deployment], params?: types.Type) =>
    expressionWarnings(policy(spec), kinds, params).map(({ fieldRef, warning }) => `${fieldRef}: ${warning}`);

  it("tell what no object can have", () => {
    const validations = [{ expression: "object.spec.nosuch == 1", messageExpression: "object.kind + oldObject.none" }];
    expect(of({ validations })).toEqual([
      "spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nosuch'\n | object.spec.nosuch == 1\n | ...........^\n",
      "spec.validations[0].messageExpression: apps/v1, Kind=Deployment: ERROR: <input>:1:24: undefined field 'none'\n | object.kind + oldObject.none\n | .......................^\n",
    ]);
  });

  it("are reported for each kind, in their order", () => {
    const [warning = ""] = of({ validations: [{ expression: "object.spec.replicas > 1" }] }, [
      deployment,
      pod,
      deployment,
    ]);
    expect(warning.split("\n\n")).toHaveLength(1);
    expect(warning).toContain("/v1, Kind=Pod: ERROR");
    const both = of({ validations: [{ expression: "object.x == 1" }] }, [deployment, pod]);
    expect(both[0]).toMatch(/^[^\n]*\/v1, Kind=Pod: [\s\S]*\n\napps\/v1, Kind=Deployment: /);
  });

  it.each([
    { expression: "object.spec.replicas > 1 && request.operation == 'CREATE' && namespaceObject.metadata.name != ''" },
    { expression: "authorizer.path('/').check('get').allowed()" },
    { expression: "variables.n > 1", variables: [{ name: "n", expression: "object.spec.replicas" }] },
    { expression: "variables.s.replicas > 1", variables: [{ name: "s", expression: "object.spec" }] },
    { expression: "params.anything", paramKind: { apiVersion: "v1", kind: "X" } },
  ])("none: $expression", ({ expression, ...rest }) => {
    expect(of({ validations: [{ expression }], ...rest })).toEqual([]);
  });

  it("know the types of variables and parameters", () => {
    const variables = [{ name: "n", expression: "object.spec.replicas" }];
    expect(of({ variables, validations: [{ expression: "variables.n == 'x'" }] })[0]).toContain("'(int, string)'");
    const paramKind = { apiVersion: "v1", kind: "Pod" };
    const [warning] = of({ paramKind, validations: [{ expression: "params.nope" }] }, [deployment], pod.type);
    expect(warning).toContain("undefined field 'nope'");
  });
});
