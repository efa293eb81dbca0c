import { describe, expect, it } from "vitest";
import { MetricsRegistry, VirtualClock } from "#base";
import { request } from "../authn/testing/requests.ts";
import type { Attributes } from "../authz/attributes.ts";
import { RequestAttributes } from "../authz/attributes.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import { requestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { impersonator } from "./impersonate.ts";
import { impersonationMetrics } from "./impersonation-metrics.ts";

const ann: UserInfo = { name: "ann", groups: ["system:authenticated"] };
const onNode: UserInfo = {
  name: "system:serviceaccount:kube-system:agent",
  groups: [],
  extra: { "authentication.kubernetes.io/node-name": ["n1"] },
};

/** `verb group/resource[/subresource][ namespace/]name`, as permissions are written here. */
function question({ verb, apiGroup, resource, subresource, namespace, name }: Attributes): string {
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  return `${verb} ${apiGroup}/${what} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

function world(allowed: readonly string[]) {
  const asked: string[] = [];
  const authorize: Authorizer = (attributes) => {
    asked.push(question(attributes));
    return { decision: allowed.includes(question(attributes)) ? "allow" : "noOpinion", reason: "" };
  };
  return { asked, impersonate: impersonator(authorize) };
}

type Headers = readonly (readonly [string, string])[];

async function act(headers: Headers, allowed: readonly string[], user = ann) {
  const { asked, impersonate } = world(allowed);
  const info = requestInfo("GET", "/api/v1/namespaces/ns/pods/web", new URLSearchParams());
  const given = request({ headers });
  try {
    return { asked, ...(await impersonate(given, new RequestAttributes(user, info))) };
  } catch (error) {
    return { asked, error: (error as Error).message, code: (error as { code?: number }).code };
  }
}

const AUTHN = "authentication.k8s.io";
const on = (mode: string) => `impersonate-on:${mode}:get /pods ns/web`;

describe("impersonation, the old way", () => {
  it.each<{ name: string; headers: Headers; allowed: string[]; want: UserInfo }>([
    {
      name: "a user",
      headers: [["Impersonate-User", "jane"]],
      allowed: ["impersonate /users jane"],
      want: { name: "jane", groups: ["system:authenticated"] },
    },
    {
      name: "a user in groups, one of them with a comma in its name",
      headers: [
        ["Impersonate-User", "jane"],
        ["Impersonate-Group", "dev"],
        ["Impersonate-Group", "CN=ops, OU=x"],
      ],
      allowed: ["impersonate /users jane", "impersonate /groups dev", "impersonate /groups CN=ops, OU=x"],
      want: { name: "jane", groups: ["dev", "CN=ops, OU=x", "system:authenticated"] },
    },
    {
      name: "uid and extra, keys percent-encoded",
      headers: [
        ["Impersonate-User", "jane"],
        ["Impersonate-Uid", "u-1"],
        ["Impersonate-Extra-Acme.com%2FProject", "a"],
        ["impersonate-extra-acme.com%2fproject", "b"],
      ],
      allowed: [
        "impersonate /users jane",
        `impersonate ${AUTHN}/uids u-1`,
        `impersonate ${AUTHN}/userextras/acme.com/project a`,
        `impersonate ${AUTHN}/userextras/acme.com/project b`,
      ],
      want: { name: "jane", uid: "u-1", groups: ["system:authenticated"], extra: { "acme.com/project": ["a", "b"] } },
    },
    {
      name: "a service account brings its groups",
      headers: [["Impersonate-User", "system:serviceaccount:ns:sa"]],
      allowed: ["impersonate /serviceaccounts ns/sa"],
      want: {
        name: "system:serviceaccount:ns:sa",
        groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
      },
    },
    {
      name: "a service account, unless groups are named",
      headers: [
        ["Impersonate-User", "system:serviceaccount:ns:sa"],
        ["Impersonate-Group", "dev"],
      ],
      allowed: ["impersonate /serviceaccounts ns/sa", "impersonate /groups dev"],
      want: { name: "system:serviceaccount:ns:sa", groups: ["dev", "system:authenticated"] },
    },
    {
      name: "what is no service account by its form is a user",
      headers: [["Impersonate-User", "system:serviceaccount:NS:sa"]],
      allowed: ["impersonate /users system:serviceaccount:NS:sa"],
      want: { name: "system:serviceaccount:NS:sa", groups: ["system:authenticated"] },
    },
    {
      name: "the anonymous stay that",
      headers: [["Impersonate-User", "system:anonymous"]],
      allowed: ["impersonate /users system:anonymous"],
      want: { name: "system:anonymous", groups: ["system:unauthenticated"] },
    },
    {
      name: "whoever is said not to be authenticated is not",
      headers: [
        ["Impersonate-User", "jane"],
        ["Impersonate-Group", "system:unauthenticated"],
      ],
      allowed: ["impersonate /users jane", "impersonate /groups system:unauthenticated"],
      want: { name: "jane", groups: ["system:unauthenticated"] },
    },
    {
      name: "masters",
      headers: [
        ["Impersonate-User", "root"],
        ["Impersonate-Group", "system:masters"],
      ],
      allowed: [
        "impersonate /users root",
        "impersonate /groups system:masters",
        on("user-info"),
        `impersonate:user-info ${AUTHN}/users root`,
      ],
      want: { name: "root", groups: ["system:masters", "system:authenticated"] },
    },
  ])("$name", async ({ headers, allowed, want }) => {
    expect(await act(headers, allowed)).toMatchObject({ user: want, constraint: "" });
  });
});

describe("impersonation, constrained", () => {
  it.each<{ name: string; headers: Headers; user?: UserInfo; allowed: string[]; constraint: string; want: UserInfo }>([
    {
      name: "a user with everything",
      headers: [
        ["Impersonate-User", "jane"],
        ["Impersonate-Uid", "u-1"],
        ["Impersonate-Group", "dev"],
        ["Impersonate-Extra-acme.com%2Fp", "a"],
      ],
      allowed: [
        on("user-info"),
        `impersonate:user-info ${AUTHN}/users jane`,
        `impersonate:user-info ${AUTHN}/uids u-1`,
        `impersonate:user-info ${AUTHN}/groups dev`,
        `impersonate:user-info ${AUTHN}/userextras/acme.com/p a`,
      ],
      constraint: "impersonate:user-info",
      want: { name: "jane", uid: "u-1", groups: ["dev", "system:authenticated"], extra: { "acme.com/p": ["a"] } },
    },
    {
      name: "many groups at once",
      headers: [
        ["Impersonate-User", "jane"],
        ...["a", "b", "c", "d"].map((group) => ["Impersonate-Group", group] as const),
      ],
      allowed: [
        on("user-info"),
        `impersonate:user-info ${AUTHN}/users jane`,
        `impersonate:user-info ${AUTHN}/groups *`,
      ],
      constraint: "impersonate:user-info",
      want: { name: "jane", groups: ["a", "b", "c", "d", "system:authenticated"] },
    },
    {
      name: "a service account",
      headers: [["Impersonate-User", "system:serviceaccount:ns:sa"]],
      allowed: [on("serviceaccount"), `impersonate:serviceaccount ${AUTHN}/serviceaccounts ns/sa`],
      constraint: "impersonate:serviceaccount",
      want: {
        name: "system:serviceaccount:ns:sa",
        groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
      },
    },
    {
      name: "any node",
      headers: [["Impersonate-User", "system:node:n2"]],
      allowed: [on("arbitrary-node"), `impersonate:arbitrary-node ${AUTHN}/nodes n2`],
      constraint: "impersonate:arbitrary-node",
      want: { name: "system:node:n2", groups: ["system:nodes", "system:authenticated"] },
    },
    {
      name: "the node that one's pod runs on",
      headers: [["Impersonate-User", "system:node:n1"]],
      user: onNode,
      allowed: [on("associated-node"), `impersonate:associated-node ${AUTHN}/nodes *`],
      constraint: "impersonate:associated-node",
      want: { name: "system:node:n1", groups: ["system:nodes", "system:authenticated"] },
    },
  ])("$name", async ({ headers, user, allowed, constraint, want }) => {
    expect(await act(headers, allowed, user)).toMatchObject({ user: want, constraint });
  });

  it.each<{ name: string; headers: Headers; allowed: string[]; user?: UserInfo; want: string }>([
    {
      name: "nothing is allowed",
      headers: [["Impersonate-User", "jane"]],
      allowed: [],
      want: 'pods "web" is forbidden: User "ann" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "ns"',
    },
    {
      name: "the request is allowed, but not the user",
      headers: [["Impersonate-User", "jane"]],
      allowed: [on("user-info")],
      want: 'users.authentication.k8s.io "jane" is forbidden: User "ann" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
    },
    {
      name: "a group that nobody may be in",
      headers: [
        ["Impersonate-User", "jane"],
        ["Impersonate-Group", "system:masters"],
      ],
      allowed: [on("user-info"), `impersonate:user-info ${AUTHN}/users jane`],
      want: 'groups.authentication.k8s.io "system:masters" is forbidden: User "ann" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
    },
    {
      name: "another node than one's own",
      headers: [["Impersonate-User", "system:node:n2"]],
      user: onNode,
      allowed: [on("associated-node"), `impersonate:associated-node ${AUTHN}/nodes *`],
      want: 'pods "web" is forbidden: User "system:serviceaccount:kube-system:agent" cannot impersonate-on:arbitrary-node:get resource "pods" in API group "" in the namespace "ns"',
    },
    {
      name: "a key without a domain",
      headers: [
        ["Impersonate-User", "jane"],
        ["Impersonate-Extra-scopes", "a"],
      ],
      allowed: [on("user-info"), `impersonate:user-info ${AUTHN}/users jane`],
      want: 'userextras.authentication.k8s.io is forbidden: User "ann" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
    },
  ])("is refused: $name", async ({ headers, allowed, user, want }) => {
    expect(await act(headers, allowed, user)).toMatchObject({ code: 403, error: want });
  });
});

describe("impersonation of nobody", () => {
  it.each<{ headers: Headers; want: string }>([
    {
      headers: [["Impersonate-Group", "x"]],
      want: 'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
    },
    {
      headers: [
        ["Impersonate-Uid", "u"],
        ["Impersonate-Extra-b", "2"],
        ["Impersonate-Extra-a", "1"],
      ],
      want: 'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"1"}, "b":[]string{"2"}}} without impersonating a user name',
    },
  ])("$headers", async ({ headers, want }) => {
    expect(await act(headers, [])).toMatchObject({ code: 400, error: want });
  });

  it("is no impersonation, if nothing else is asked for", async () => {
    expect(await act([["Impersonate-User", ""]], [])).toEqual({ asked: [] });
    expect(await act([["Accept", "*/*"]], [])).toEqual({ asked: [] });
  });
});

describe("the mode that last succeeded", () => {
  it("is tried first", async () => {
    const { asked, impersonate } = world(["impersonate /users jane"]);
    const info = requestInfo("GET", "/api/v1/pods", new URLSearchParams());
    const given = request({ headers: [["Impersonate-User", "jane"]] });
    await impersonate(given, new RequestAttributes(ann, info));
    asked.length = 0;
    await impersonate(given, new RequestAttributes(ann, info));
    expect(asked).toEqual(["impersonate /users jane"]);
  });
});

it("is counted, with the mode that decided, and so are its questions", async () => {
  const metrics = new MetricsRegistry();
  const authorize: Authorizer = (attributes) => ({
    decision: question(attributes) === "impersonate /users jane" ? "allow" : "noOpinion",
    reason: "",
  });
  const impersonate = impersonator(authorize, impersonationMetrics(metrics, new VirtualClock()));
  const as = (name: string) =>
    impersonate(
      request({ headers: [["Impersonate-User", name]] }),
      new RequestAttributes(ann, requestInfo("GET", "/api/v1/pods", new URLSearchParams())),
    );
  await as("jane");
  await expect(as("joe")).rejects.toThrow("joe");
  const counted = metrics
    .text()
    .split("\n")
    .filter((line) => /^apiserver_impersonation_.*(_total|_count)\{/.test(line))
    .map((line) => line.replace("apiserver_impersonation_", ""));
  expect(counted).toEqual([
    'attempts_total{mode="legacy",decision="allowed"} 1',
    'attempts_total{mode="legacy",decision="denied"} 1',
    'attempts_duration_seconds_count{mode="legacy",decision="allowed"} 1',
    'attempts_duration_seconds_count{mode="legacy",decision="denied"} 1',
    'authorization_attempts_total{mode="user-info",decision="denied"} 2',
    'authorization_attempts_total{mode="legacy",decision="allowed"} 1',
    'authorization_attempts_total{mode="legacy",decision="denied"} 1',
    'authorization_attempts_duration_seconds_count{mode="user-info",decision="denied"} 2',
    'authorization_attempts_duration_seconds_count{mode="legacy",decision="allowed"} 1',
    'authorization_attempts_duration_seconds_count{mode="legacy",decision="denied"} 1',
  ]);
});
