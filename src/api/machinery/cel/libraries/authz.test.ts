import { describe, expect, it } from "vitest";
import { type AuthorizerAttributes, AuthorizerValue, type AuthorizerVerdict, ResourceCheck } from "./authz.ts";
import { evaluate, issuesOf } from "./testing/evaluate.ts";

const user = { name: "ada", groups: ["devs"] };

/** What an expression gives, and what it asked. */
function asked(expression: string, verdict: AuthorizerVerdict = { decision: "allow", reason: "because" }) {
  const questions: AuthorizerAttributes[] = [];
  const authorizer = new AuthorizerValue(user, (attributes) => {
    questions.push(attributes);
    return verdict;
  });
  const request = { group: "apps", resource: "deployments", namespace: "web", name: "front", subresource: "scale" };
  const value = evaluate(expression, {
    authorizer,
    "authorizer.requestResource": new ResourceCheck(authorizer, request),
  });
  return { value, questions };
}

const nothing = {
  user,
  isResourceRequest: true,
  path: "",
  apiGroup: "",
  apiVersion: "*",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  selectors: { field: [], label: [], unreadable: [] },
};

describe("questions", () => {
  it.each([
    [
      "authorizer.path('/healthz').check('get').allowed()",
      { ...nothing, verb: "get", isResourceRequest: false, path: "/healthz", apiVersion: "" },
    ],
    [
      "authorizer.group('').resource('pods').check('create').allowed()",
      { ...nothing, verb: "create", resource: "pods" },
    ],
    [
      "authorizer.group('apps').resource('deployments').subresource('scale').namespace('a').name('b').check('update').allowed()",
      {
        ...nothing,
        verb: "update",
        apiGroup: "apps",
        resource: "deployments",
        subresource: "scale",
        namespace: "a",
        name: "b",
      },
    ],
    [
      "authorizer.requestResource.check('get').allowed()",
      {
        ...nothing,
        verb: "get",
        apiGroup: "apps",
        resource: "deployments",
        subresource: "scale",
        namespace: "web",
        name: "front",
      },
    ],
    [
      "authorizer.serviceAccount('ns', 'sa').path('/x').check('get').allowed()",
      {
        ...nothing,
        user: {
          name: "system:serviceaccount:ns:sa",
          groups: ["system:serviceaccounts", "system:serviceaccounts:ns"],
        },
        verb: "get",
        isResourceRequest: false,
        path: "/x",
        apiVersion: "",
      },
    ],
    [
      "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n1').labelSelector('a in (b, c)').check('list').allowed()",
      {
        ...nothing,
        verb: "list",
        resource: "pods",
        selectors: {
          field: [{ field: "spec.nodeName", operator: "=", value: "n1" }],
          label: [{ key: "a", operator: "in", values: ["b", "c"] }],
          unreadable: [],
        },
      },
    ],
    [
      "authorizer.group('').resource('pods').fieldSelector('x').labelSelector('!!').check('list').allowed()",
      {
        ...nothing,
        verb: "list",
        resource: "pods",
        selectors: { field: [], label: [], unreadable: ["fieldSelector", "labelSelector"] },
      },
    ],
  ])("%s", (expression, question) => {
    expect(asked(expression)).toEqual({ value: true, questions: [question] });
  });
});

describe("answers", () => {
  const decision = "authorizer.path('/x').check('get')";
  const failed: AuthorizerVerdict = { decision: "noOpinion", reason: "no", error: "timeout" };
  it.each<[string, AuthorizerVerdict, unknown]>([
    ["allowed()", { decision: "allow", reason: "" }, true],
    ["allowed()", { decision: "deny", reason: "" }, false],
    ["allowed()", failed, false],
    ["reason()", failed, "no"],
    ["errored()", failed, true],
    ["errored()", { decision: "allow", reason: "" }, false],
    ["error()", failed, "timeout"],
    ["error()", { decision: "allow", reason: "" }, ""],
  ])("%s", (accessor, verdict, want) => {
    expect(asked(`${decision}.${accessor}`, verdict).value).toBe(want);
  });
});

describe("faults, before anything is asked", () => {
  it.each([
    ["authorizer.path(' \\t').check('get').allowed()", "error: path must not be empty"],
    ["authorizer.group('').resource(' ').check('get').allowed()", "error: resource must not be empty"],
    [
      "authorizer.serviceAccount('ns', 'not@valid').path('/').check('get').allowed()",
      "error: Invalid service account name",
    ],
    [
      "authorizer.serviceAccount('not.valid', 'sa').path('/').check('get').allowed()",
      "error: Invalid service account namespace",
    ],
  ])("%s", (expression, want) => {
    expect(asked(expression)).toEqual({ value: want, questions: [] });
  });

  it("refuses what makes no sense when it is compiled", () => {
    expect(issuesOf("authorizer.path('/').allowed()")).toContain("found no matching overload for 'allowed'");
    expect(issuesOf("authorizer.check('get')")).toContain("found no matching overload for 'check'");
  });
});
