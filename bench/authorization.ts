/**
 * Who may do what, with ten thousand bindings: from a request's path to the decision, in this process. The bound is the
 * same without the decision.
 */
import type { rbac } from "#api";
import { RequestAttributes } from "../src/apiserver/authz/attributes.ts";
import { Rbac } from "../src/apiserver/authz/rbac/rbac.ts";
import { binding, role } from "../src/apiserver/authz/testing/questions.ts";
import { requestInfo } from "../src/apiserver/http/request-info.ts";
import type { Figure } from "./run.ts";

const BINDINGS = 10_000;
const DECISIONS = 500_000;
const ROUNDS = 3;
const NO_QUERY = new URLSearchParams();

const rules = (count: number): rbac.PolicyRule[] =>
  Array.from({ length: count }, (_, i) => ({
    verbs: ["get", "list", "watch", "create", "update"],
    apiGroups: ["", `group${i}.example.com`],
    resources: ["pods", "pods/log", `things${i}`],
  }));

export async function run(report: (figure: Figure) => void): Promise<void> {
  const few = withBindings(10);
  const many = withBindings(BINDINGS);
  const allowed = "/api/v1/namespaces/ns7/pods/web";
  const refused = "/api/v1/namespaces/ns7/secrets/web";
  const bound = microseconds(() => asked(allowed));
  const cases: readonly (readonly [string, Rbac, string])[] = [
    ["allowed, 10 bindings", few, allowed],
    [`allowed, ${BINDINGS.toLocaleString("en")} bindings`, many, allowed],
    [`refused, ${BINDINGS.toLocaleString("en")} bindings`, many, refused],
  ];
  for (const [name, rbacRules, path] of cases) {
    report({ name, value: microseconds(() => rbacRules.authorize(asked(path))), unit: "µs", bound });
  }
  const change = binding("bench", "ClusterRole role1", ["User changing"]);
  const value = microseconds((i) => {
    if (i % 2 === 0) many.bindings.set("ClusterRoleBinding", "bench", change);
    else many.bindings.delete("ClusterRoleBinding", "bench");
  });
  report({ name: `a binding comes or goes, ${BINDINGS.toLocaleString("en")} bindings`, value, unit: "µs" });
}

/** A user with a binding of their own in one namespace, and three groups, among many who have others. */
function withBindings(count: number): Rbac {
  const made = new Rbac();
  for (let i = 0; i < count / 10; i++) made.roles.set("ClusterRole", `role${i}`, role(`role${i}`, rules(10)));
  for (let i = 0; i < count; i++) {
    const namespace = `ns${i % 500}`;
    const who = i % 3 === 0 ? `ServiceAccount ${namespace}/bot${i}` : `User user${i}`;
    const bound = binding(`b${i}`, `ClusterRole role${i % (count / 10)}`, [who], namespace);
    made.bindings.set("RoleBinding", `${namespace}/b${i}`, bound);
  }
  for (const group of ["system:authenticated", "team"]) {
    made.bindings.set("ClusterRoleBinding", group, binding(group, "ClusterRole role0", [`Group other-${group}`]));
  }
  made.bindings.set("RoleBinding", "ns7/own", binding("own", "ClusterRole role0", ["User jane"], "ns7"));
  return made;
}

function asked(path: string): RequestAttributes {
  const user = { name: "jane", groups: ["team", "system:authenticated", "staff"] };
  return new RequestAttributes(user, requestInfo("GET", path, NO_QUERY));
}

/** Of one call; the best of some rounds. */
function microseconds(call: (i: number) => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < DECISIONS; i++) call(i);
    best = Math.min(best, ((performance.now() - start) * 1000) / DECISIONS);
  }
  return best;
}
