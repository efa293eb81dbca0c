import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { KubeObject, rbac } from "#api";
import { rbacObjects } from "../../bootstrap/rbac/index.ts";
import { answer, asking, binding, role, user } from "../testing/questions.ts";
import { Rbac } from "./rbac.ts";

const READ_PODS: rbac.PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };
const METRICS: rbac.PolicyRule = { verbs: ["get"], nonResourceURLs: ["/metrics"] };

/** The authorizer with these objects, as caches would tell of them. */
function withObjects(...objects: readonly KubeObject[]): Rbac {
  const rules = new Rbac();
  for (const object of objects) set(rules, object);
  return rules;
}

function keyOf({ metadata: { name = "", namespace } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function set(rules: Rbac, object: KubeObject): void {
  const { kind } = object;
  if (kind === "Role" || kind === "ClusterRole") rules.roles.set(kind, keyOf(object), object);
  else rules.bindings.set(kind as "RoleBinding", keyOf(object), object);
}

function remove(rules: Rbac, object: KubeObject): void {
  const { kind } = object;
  if (kind === "Role" || kind === "ClusterRole") rules.roles.delete(kind, keyOf(object));
  else rules.bindings.delete(kind as "RoleBinding", keyOf(object));
}

describe("who is allowed, and why", () => {
  const rules = withObjects(
    role("reader", [READ_PODS, METRICS]),
    role("local", [READ_PODS], "ns"),
    role("named", [{ ...READ_PODS, resourceNames: ["web"] }], "ns"),
    binding("b-user", "ClusterRole reader", ["User ann"]),
    binding("b-group", "ClusterRole reader", ["Group x", "Group dev"]),
    binding("b-account", "ClusterRole reader", ["ServiceAccount ns/bot"]),
    binding("b-nobody", "ClusterRole reader", ["ServiceAccount bot", "Robot r2"]),
    binding("b-local", "Role local", ["User bob", "ServiceAccount bot2"], "ns"),
    binding("b-wide", "ClusterRole reader", ["User eve"], "ns"),
    binding("b-named", "Role named", ["User kim"], "ns"),
    binding("b-wrong", "Role reader", ["User dan"], "ns"),
  );
  const to = (kind: string, name: string, roleKind: string, roleName: string, who: string) =>
    `allow: RBAC: allowed by ${kind} "${name}" of ${roleKind} "${roleName}" to ${who}`;

  it.each([
    {
      who: user("ann"),
      request: "GET /api/v1/pods",
      want: to("ClusterRoleBinding", "b-user", "ClusterRole", "reader", 'User "ann"'),
    },
    {
      who: user("ann"),
      request: "GET /metrics",
      want: to("ClusterRoleBinding", "b-user", "ClusterRole", "reader", 'User "ann"'),
    },
    {
      who: user("x1", "dev"),
      request: "GET /api/v1/namespaces/any/pods/p",
      want: to("ClusterRoleBinding", "b-group", "ClusterRole", "reader", 'Group "dev"'),
    },
    {
      who: user("system:serviceaccount:ns:bot"),
      request: "GET /api/v1/pods",
      want: to("ClusterRoleBinding", "b-account", "ClusterRole", "reader", 'ServiceAccount "bot/ns"'),
    },
    {
      who: user("bob"),
      request: "GET /api/v1/namespaces/ns/pods",
      want: to("RoleBinding", "b-local/ns", "Role", "local", 'User "bob"'),
    },
    {
      who: user("system:serviceaccount:ns:bot2"),
      request: "GET /api/v1/namespaces/ns/pods",
      want: to("RoleBinding", "b-local/ns", "Role", "local", 'ServiceAccount "bot2/ns"'),
    },
    {
      who: user("eve"),
      request: "GET /api/v1/namespaces/ns/pods",
      want: to("RoleBinding", "b-wide/ns", "ClusterRole", "reader", 'User "eve"'),
    },
    {
      who: user("kim"),
      request: "GET /api/v1/namespaces/ns/pods/web",
      want: to("RoleBinding", "b-named/ns", "Role", "named", 'User "kim"'),
    },
    {
      who: user("kim"),
      request: "GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb",
      want: to("RoleBinding", "b-named/ns", "Role", "named", 'User "kim"'),
    },
    { who: user("kim"), request: "GET /api/v1/namespaces/ns/pods", want: "noOpinion" },
    { who: user("kim"), request: "GET /api/v1/namespaces/ns/pods/Web", want: "noOpinion" },
    { who: user("kim"), request: "GET /api/v1/namespaces/ns/pods/web/log", want: "noOpinion" },
    { who: user("ann"), request: "DELETE /api/v1/pods", want: "noOpinion" },
    { who: user("ann"), request: "GET /api/v1/namespaces/ns/pods?watch=1", want: "noOpinion" },
    { who: user("Ann"), request: "GET /api/v1/pods", want: "noOpinion" },
    { who: user("bob"), request: "GET /api/v1/pods", want: "noOpinion" },
    { who: user("bob"), request: "GET /api/v1/namespaces/other/pods", want: "noOpinion" },
    { who: user("bob"), request: "GET /api/v1/namespaces/NS/pods", want: "noOpinion" },
    // What is bound in a namespace says nothing of paths.
    { who: user("eve"), request: "GET /metrics", want: "noOpinion" },
    // A user is not a group of the same name, nor the other way round.
    { who: user("dev"), request: "GET /api/v1/pods", want: "noOpinion" },
    { who: user("x2", "ann"), request: "GET /api/v1/pods", want: "noOpinion" },
    { who: user("system:serviceaccount:other:bot"), request: "GET /api/v1/pods", want: "noOpinion" },
    { who: user("system:serviceaccount::bot"), request: "GET /api/v1/pods", want: "noOpinion" },
    {
      who: user("dan"),
      request: "GET /api/v1/namespaces/ns/pods",
      want: 'noOpinion: RBAC: role.rbac.authorization.k8s.io "reader" not found',
    },
  ])("$who.name $request", async ({ who, request, want }) => {
    expect(await answer(rules.authorize, asking(who, request))).toBe(want);
  });

  it("names each missing role once", async () => {
    const dangling = withObjects(
      binding("a", "ClusterRole gone", ["User ann"]),
      binding("b", "ClusterRole gone", ["Group dev"]),
      binding("c", "Role lost", ["User ann"], "ns"),
    );
    expect(await answer(dangling.authorize, asking(user("ann", "dev"), "GET /api/v1/namespaces/ns/pods"))).toBe(
      'noOpinion: RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]',
    );
  });
});

describe("a change counts at once", () => {
  const reading = "GET /api/v1/namespaces/ns/pods";
  const [ann, bob] = [user("ann"), user("bob")];
  const may = (rules: Rbac, who: "ann" | "bob" = "ann") =>
    rules.authorize(asking(who === "ann" ? ann : bob, reading)).decision === "allow";

  it("of a binding", () => {
    const rules = withObjects(role("r", [READ_PODS]));
    const bound = binding("b", "ClusterRole r", ["User ann"]);
    expect(may(rules)).toBe(false);
    set(rules, bound);
    expect([may(rules), may(rules, "bob"), may(rules)]).toEqual([true, false, true]);
    set(rules, binding("b", "ClusterRole r", ["User bob"]));
    expect([may(rules), may(rules, "bob")]).toEqual([false, true]);
    set(rules, bound);
    set(rules, binding("b2", "ClusterRole r", ["User ann"]));
    remove(rules, bound);
    expect(may(rules)).toBe(true);
    remove(rules, binding("b2", "ClusterRole r", []));
    expect(may(rules)).toBe(false);
  });

  it("of a role, before or after its binding", () => {
    const rules = withObjects(binding("b", "Role r", ["User ann"], "ns"));
    expect(may(rules)).toBe(false);
    set(rules, role("r", [READ_PODS], "ns"));
    expect(may(rules)).toBe(true);
    set(rules, role("r", [], "ns"));
    expect(may(rules)).toBe(false);
    set(rules, role("r", [READ_PODS], "ns"));
    remove(rules, role("r", [], "ns"));
    expect(may(rules)).toBe(false);
    set(rules, role("r", [READ_PODS], "other"));
    expect(may(rules)).toBe(false);
  });

  it("of everything, when caches start anew", () => {
    const rules = withObjects(role("r", [READ_PODS]), binding("b", "ClusterRole r", ["User ann"]));
    rules.bindings.clear("ClusterRoleBinding");
    expect(may(rules)).toBe(false);
    set(rules, binding("b", "ClusterRole r", ["User ann"]));
    rules.roles.clear("ClusterRole");
    expect(may(rules)).toBe(false);
    set(rules, role("r", [READ_PODS]));
    expect(may(rules)).toBe(true);
  });
});

describe("a role that aggregates", () => {
  const labelled = (name: string, labels: Record<string, string>, rules: readonly rbac.PolicyRule[], of?: string) => ({
    ...role(name, rules),
    metadata: { name, labels },
    ...(of !== undefined && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: of } }] } }),
  });
  const may = (rules: Rbac) => rules.authorize(asking(user("ann"), "GET /api/v1/pods")).decision === "allow";
  const top = labelled("top", {}, [], "top");

  it("has what its parts have, through several levels", () => {
    const rules = withObjects(binding("b", "ClusterRole top", ["User ann"]), top);
    expect(may(rules)).toBe(false);
    set(rules, labelled("middle", { to: "top" }, [], "middle"));
    expect(may(rules)).toBe(false);
    set(rules, labelled("part", { to: "middle" }, [READ_PODS]));
    expect(may(rules)).toBe(true);
    expect(rules.held(user("ann"), "").rules).toEqual([READ_PODS]);
    set(rules, labelled("part", { to: "elsewhere" }, [READ_PODS]));
    expect(may(rules)).toBe(false);
    set(rules, labelled("part", { to: "top" }, [READ_PODS]));
    expect(may(rules)).toBe(true);
    remove(rules, labelled("part", {}, []));
    expect(may(rules)).toBe(false);
  });

  it("may be a part of itself", () => {
    const rules = withObjects(
      binding("b", "ClusterRole top", ["User ann"]),
      labelled("top", { to: "other" }, [], "top"),
      labelled("other", { to: "top" }, [READ_PODS], "other"),
    );
    expect(may(rules)).toBe(true);
  });

  it("keeps what is written in it", () => {
    const rules = withObjects(binding("b", "ClusterRole top", ["User ann"]), labelled("top", {}, [READ_PODS], "top"));
    expect(may(rules)).toBe(true);
  });
});

const reference = resolve(import.meta.dirname, "../../../../../shared/reference/bootstrap/with-controller-manager");

describe.skipIf(!existsSync(reference))("the roles of a fresh cluster (needs ../shared)", () => {
  const file = join(reference, "clusterroles.json");
  const written = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { items: rbac.ClusterRole[] }).items
    : [];
  const rules = new Rbac();
  for (const { plural, object } of rbacObjects()) {
    if (plural === "clusterroles") rules.roles.set("ClusterRole", object.metadata.name ?? "", object);
  }
  const texts = (all: readonly rbac.PolicyRule[] | undefined) =>
    (all ?? []).map((rule) => JSON.stringify(sorted(rule))).sort();
  const sorted = (rule: rbac.PolicyRule) => Object.fromEntries(Object.entries(rule).sort());

  it.each(["admin", "edit", "view"])("%s means what a controller comes to write into it", (name) => {
    const slot = rules.roles.find("ClusterRole", name);
    const want = written.find(({ metadata }) => metadata.name === name)?.rules;
    expect(texts(slot && rules.roles.meaning(slot)?.rules)).toEqual(texts(want));
    expect(want?.length).toBeGreaterThan(5);
  });
});

describe("what a user may do", () => {
  it("lists the rules of each binding once", () => {
    const rules = withObjects(
      role("r", [READ_PODS, METRICS]),
      role("n", [{ ...READ_PODS, resourceNames: ["web"] }], "ns"),
      binding("a", "ClusterRole r", ["User ann", "Group dev"]),
      binding("b", "Role n", ["Group dev"], "ns"),
      binding("c", "Role ghost", ["Group dev"], "ns"),
    );
    expect(rules.rulesFor(user("ann", "dev"), "ns")).toEqual({
      resourceRules: [READ_PODS, { ...READ_PODS, resourceNames: ["web"] }],
      nonResourceRules: [METRICS],
      incomplete: false,
      evaluationError: 'role.rbac.authorization.k8s.io "ghost" not found',
    });
    expect(rules.rulesFor(user("bob"), "ns")).toEqual({ resourceRules: [], nonResourceRules: [], incomplete: false });
  });
});

describe("the cost of a decision", () => {
  /** How many roles are looked at to find an answer. */
  const looks = (rules: Rbac, who: string, namespace: string) => {
    let seen = 0;
    rules.bindings.visit(user(who, "dev"), namespace, () => {
      seen++;
      return false;
    });
    return seen;
  };

  it("follows the roles of who asks, not the bindings that there are", () => {
    const rules = withObjects(
      role("r", [READ_PODS]),
      binding("own", "ClusterRole r", ["User ann"]),
      binding("team", "ClusterRole r", ["Group dev"]),
      binding("local", "ClusterRole r", ["User ann"], "ns"),
    );
    const before = looks(rules, "ann", "ns");
    for (let i = 0; i < 2_000; i++) {
      set(rules, role(`r${i}`, [READ_PODS]));
      set(rules, binding(`other${i}`, `ClusterRole r${i}`, [`User u${i}`, `Group g${i}`]));
      set(rules, binding(`other${i}`, `ClusterRole r${i}`, [`User u${i}`], "ns"));
      set(rules, binding(`elsewhere${i}`, `ClusterRole r${i}`, ["User ann"], `ns${i}`));
      // The same role once more costs nothing either.
      set(rules, binding(`again${i}`, "ClusterRole r", ["User ann"]));
    }
    expect({ before, after: looks(rules, "ann", "ns") }).toEqual({ before: 3, after: 3 });
  });
});
