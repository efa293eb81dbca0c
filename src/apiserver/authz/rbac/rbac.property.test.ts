/** Whatever is written and in whatever order: the tables say what a plain reading of all objects says. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { KubeObject, rbac } from "#api";
import type { UserInfo } from "../../identity/user.ts";
import { type Attributes, resourceAttributes } from "../attributes.ts";
import { binding, role } from "../testing/questions.ts";
import { Rbac } from "./rbac.ts";

const some = (...values: string[]) => fc.subarray(values, { minLength: 1 });
const one = (...values: string[]) => fc.constantFrom(...values);
const ruleOf = fc.oneof(
  fc.record({
    verbs: some("get", "list", "*"),
    apiGroups: some("", "apps", "*"),
    resources: some("pods", "pods/log", "*/log", "*"),
    resourceNames: fc.subarray(["a", "b"]),
  }),
  fc.record({ verbs: some("get", "post", "*"), nonResourceURLs: some("/x", "/x/*", "/xy*", "*") }),
);
const place = fc.option(one("n1", "n2"), { nil: undefined });
const roleOf = fc
  .tuple(one("r1", "r2"), fc.array(ruleOf, { maxLength: 2 }), place)
  .map(([name, rules, namespace]) => role(name, rules, namespace));
const subjects = some("User u1", "User g1", "Group g1", "ServiceAccount n1/s", "ServiceAccount s");
const bindingOf = fc
  .tuple(one("b1", "b2"), one("Role", "ClusterRole"), one("r1", "r2"), subjects, place)
  .map(([name, kind, of, who, namespace]) => binding(name, `${kind as "Role"} ${of}`, who, namespace));
const change = fc.record({ object: fc.oneof(roleOf, bindingOf), deleted: fc.boolean() });
const users: readonly UserInfo[] = [
  { name: "u1", groups: [] },
  { name: "x", groups: ["g0", "g1"] },
  { name: "system:serviceaccount:n1:s", groups: [] },
  { name: "system:serviceaccount:n2:s", groups: [] },
];
const question = fc.oneof(
  fc
    .tuple(
      one("get", "list", "put"),
      one("", "apps"),
      one("pods", "secrets"),
      one("", "log"),
      one("", "n1"),
      one("", "a"),
    )
    .map(
      ([verb, apiGroup, resource, subresource, namespace, name]) =>
        (who: UserInfo) =>
          resourceAttributes(who, verb, { apiGroup, resource, subresource, namespace, name }),
    ),
  fc.tuple(one("get", "post"), one("/x", "/x/y", "/xyz", "/z")).map(
    ([verb, path]) =>
      (who: UserInfo): Attributes => ({
        ...resourceAttributes(who, verb, {}),
        isResourceRequest: false,
        path,
      }),
  ),
);

const keyOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

function tell(rules: Rbac, object: KubeObject, deleted: boolean): void {
  const { kind, metadata } = object;
  const { name = "", namespace } = metadata;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  if (kind === "Role" || kind === "ClusterRole") {
    if (deleted) rules.roles.delete(kind, key);
    else rules.roles.set(kind, key, object);
  } else if (deleted) rules.bindings.delete(kind as "RoleBinding", key);
  else rules.bindings.set(kind as "RoleBinding", key, object);
}

/** By the words of the documentation, object by object. */
function plainly(objects: ReadonlyMap<string, KubeObject>, attributes: Attributes): boolean {
  return [...objects.values()].some((object) => {
    const { roleRef, subjects = [], metadata } = object as rbac.RoleBinding;
    if (roleRef === undefined) return false;
    const { namespace } = metadata;
    if (namespace !== undefined && (!attributes.isResourceRequest || namespace !== attributes.namespace)) return false;
    if (!subjects.some((subject) => is(subject, attributes.user, namespace))) return false;
    const key = roleRef.kind === "Role" ? `Role ${namespace ?? ""}/${roleRef.name}` : `ClusterRole /${roleRef.name}`;
    const found = objects.get(key) as rbac.Role | undefined;
    return (found?.rules ?? []).some((rule) => allows(rule, attributes));
  });
}

function is({ kind, name, namespace }: rbac.Subject, { name: who, groups }: UserInfo, home?: string): boolean {
  if (kind === "User") return who === name;
  if (kind === "Group") return groups.includes(name);
  const at = namespace ?? home;
  return at !== undefined && who === `system:serviceaccount:${at}:${name}`;
}

function allows(rule: rbac.PolicyRule, attributes: Attributes): boolean {
  const { verb, apiGroup, resource, subresource, name, path } = attributes;
  const has = (list: readonly string[] | undefined, ...values: string[]) =>
    (list ?? []).some((value) => value === "*" || values.includes(value));
  if (!has(rule.verbs, verb)) return false;
  if (!attributes.isResourceRequest) {
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1))),
    );
  }
  const wanted = subresource === "" ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  const names = rule.resourceNames ?? [];
  return (
    has(rule.apiGroups, apiGroup) && has(rule.resources, ...wanted) && (names.length === 0 || names.includes(name))
  );
}

it("agrees with a plain reading of all objects", () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 14 }),
      fc.array(question, { minLength: 6, maxLength: 6 }),
      (changes, asked) => {
        const rules = new Rbac();
        const objects = new Map<string, KubeObject>();
        for (const { object, deleted } of changes) {
          tell(rules, object, deleted);
          if (deleted) objects.delete(keyOf(object));
          else objects.set(keyOf(object), object);
          for (const attributes of users.flatMap((who) => asked.map((ask) => ask(who)))) {
            const verdict = rules.authorize(attributes);
            expect(verdict.decision === "allow").toBe(plainly(objects, attributes));
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});
