/**
 * The modes of impersonation. Four are constrained: besides `impersonate:MODE` on the identity, they need
 * `impersonate-on:MODE:VERB` on the resource of the request. The fifth is the legacy mode, the verb `impersonate`
 * alone.
 *
 *     associated-node   a service account acts as the node that its pod runs on
 *     arbitrary-node    as any node
 *     serviceaccount    as a service account
 *     user-info         as anyone else, with uid, groups and extra, but never as one of system:masters
 *     (none)            as anyone, whatever the request does
 *
 * A mode returns undefined for an identity that it is not meant for, and throws Forbidden if it is not allowed.
 */
import { checkDns1123Subdomain, field, goQuote } from "#api";
import { extraKeyFaults } from "../authn/extra-key.ts";
import { type Attributes, resourceAttributes } from "../authz/attributes.ts";
import { type Authorizer, demand, denied, isAllowed } from "../authz/authorizer.ts";
import { parseServiceAccountUser, serviceAccountGroups } from "../identity/service-account-name.ts";
import {
  ANONYMOUS_NAME,
  AUTHENTICATED,
  MASTERS,
  NODE_NAME,
  NODES,
  UNAUTHENTICATED,
  type UserInfo,
} from "../identity/user.ts";

/** Empty where a header is absent. */
export interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface Impersonated {
  readonly user: UserInfo;
  /** The verb that allowed it, for the audit log; "" for the legacy mode. */
  readonly constraint: string;
}

export type Mode = (
  wanted: WantedUser,
  attributes: Attributes,
  authorize: Authorizer,
) => Promise<Impersonated | undefined>;

const AUTHENTICATION = { apiGroup: "authentication.k8s.io", apiVersion: "v1" };
const CORE = { apiGroup: "", apiVersion: "v1" };
const NODE_PREFIX = "system:node:";
/** From this number of values on, one request for all of them is tried first. */
const MANY = 4;

const nodeOf = ({ name }: { readonly name: string }): string | undefined => {
  const node = name.startsWith(NODE_PREFIX) ? name.slice(NODE_PREFIX.length) : "";
  return node !== "" && checkDns1123Subdomain(node).length === 0 ? node : undefined;
};
const onlyName = ({ uid, groups, extra }: WantedUser): boolean => uid === "" && groups.length === 0 && extra.size === 0;

/** In the order of `MODES`. */
export const MODE_NAMES = ["associated-node", "arbitrary-node", "serviceaccount", "user-info", "legacy"] as const;
export type ModeName = (typeof MODE_NAMES)[number];

export const MODES: readonly Mode[] = [
  async (wanted, attributes, authorize) => {
    const { user } = attributes;
    const [own, ...more] = user.extra?.[NODE_NAME] ?? [];
    const node = nodeOf(wanted);
    const associated = node !== undefined && own === node && more.length === 0;
    if (!associated || !onlyName(wanted) || parseServiceAccountUser(user.name) === undefined) return undefined;
    return constrained("associated-node", wanted, withNodeKeys(attributes), (question) =>
      authorize(question.verb === "impersonate:associated-node" ? { ...question, name: "*" } : question),
    );
  },
  async (wanted, attributes, authorize) =>
    onlyName(wanted) && nodeOf(wanted) !== undefined
      ? constrained("arbitrary-node", wanted, attributes, authorize)
      : undefined,
  async (wanted, attributes, authorize) =>
    onlyName(wanted) && parseServiceAccountUser(wanted.name) !== undefined
      ? constrained("serviceaccount", wanted, attributes, authorize)
      : undefined,
  async (wanted, attributes, authorize) =>
    nodeOf(wanted) === undefined && parseServiceAccountUser(wanted.name) === undefined
      ? constrained("user-info", wanted, attributes, authorize)
      : undefined,
  async (wanted, attributes, authorize) => {
    await mayBe(wanted, "impersonate", false, attributes.user, authorize);
    return { user: userOf(wanted, false), constraint: "" };
  },
];

async function constrained(
  mode: string,
  wanted: WantedUser,
  attributes: Attributes,
  authorize: Authorizer,
): Promise<Impersonated> {
  await demand(authorize, verbed(attributes, `impersonate-on:${mode}:${attributes.verb}`));
  const constraint = `impersonate:${mode}`;
  await mayBe(wanted, constraint, true, attributes.user, authorize);
  return { user: userOf(wanted, true), constraint };
}

/** Attributes have getters: selectors are parsed on demand. */
function verbed(attributes: Attributes, verb: string): Attributes {
  return Object.create(attributes, { verb: { value: verb, enumerable: true } }) as Attributes;
}

/** The node of the service account has been compared: authorizers see only that there was one. */
function withNodeKeys(attributes: Attributes): Attributes {
  const extra = {
    "authentication.kubernetes.io/associated-node-keys": Object.keys(attributes.user.extra ?? {}).sort(),
  };
  return Object.create(attributes, { user: { value: { ...attributes.user, extra }, enumerable: true } }) as Attributes;
}

/** Throws unless every part of the identity is allowed. */
async function mayBe(
  wanted: WantedUser,
  verb: string,
  isConstrained: boolean,
  user: UserInfo,
  authorize: Authorizer,
): Promise<void> {
  const names = isConstrained ? AUTHENTICATION : CORE;
  const identity = (about: Partial<Attributes>) => resourceAttributes(user, verb, about);
  const account = parseServiceAccountUser(wanted.name);
  const node = isConstrained ? nodeOf(wanted) : undefined;
  if (account !== undefined) await demand(authorize, identity({ ...names, resource: "serviceaccounts", ...account }));
  else if (node !== undefined) await demand(authorize, identity({ ...names, resource: "nodes", name: node }));
  else await demand(authorize, identity({ ...names, resource: "users", name: wanted.name }));

  if (wanted.uid !== "") await demand(authorize, identity({ ...AUTHENTICATION, resource: "uids", name: wanted.uid }));

  const group = (name: string) => identity({ ...names, resource: "groups", name });
  if (isConstrained) checkGroups(wanted.groups, group);
  const manyGroups = isConstrained && wanted.groups.length >= MANY;
  if (!manyGroups || !(await isAllowed(authorize, group("*")))) {
    for (const name of wanted.groups) await demand(authorize, group(name));
  }

  const extra = (subresource: string, name: string) =>
    identity({ ...AUTHENTICATION, resource: "userextras", subresource, name });
  if (isConstrained) checkExtra(wanted.extra, extra("", ""));
  const values = [...wanted.extra].flatMap(([key, each]) => each.map((value) => [key, value] as const));
  const manyValues = isConstrained && (wanted.extra.size >= MANY || values.length >= MANY);
  if (!manyValues || !(await isAllowed(authorize, extra("*", "*")))) {
    for (const [key, value] of values) await demand(authorize, extra(key, value));
  }
}

function checkGroups(groups: readonly string[], about: (name: string) => Attributes): void {
  if (groups.includes("")) throw denied(about(""), "impersonating the empty string group is not allowed");
  if (groups.includes(MASTERS)) throw denied(about(MASTERS), "impersonating the system:masters group is not allowed");
}

function checkExtra(extra: WantedUser["extra"], about: Attributes): void {
  for (const [key, values] of extra) {
    const fault = extraFault(key, values);
    if (fault !== undefined) throw denied(about, fault);
  }
}

function extraFault(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const faults = extraKeyFaults(key).map(field.fieldErrorText);
  if (faults.length > 0) return `impersonating an invalid key in extra is not allowed: ${field.aggregate(faults)}`;
  if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
  return values.includes("") ? "impersonating the empty string value in extra is not allowed" : undefined;
}

/**
 * Service accounts and, in constrained modes, nodes have groups of their own. Every user but the anonymous one is
 * authenticated.
 */
function userOf({ name, uid, groups, extra }: WantedUser, isConstrained: boolean): UserInfo {
  const account = parseServiceAccountUser(name);
  const node = isConstrained ? nodeOf({ name }) : undefined;
  const own =
    account !== undefined && groups.length === 0
      ? serviceAccountGroups(account.namespace)
      : node !== undefined
        ? [NODES]
        : groups;
  const state = name === ANONYMOUS_NAME ? UNAUTHENTICATED : AUTHENTICATED;
  const settled = own.includes(state) || own.includes(UNAUTHENTICATED);
  return {
    name,
    groups: settled ? own : [...own, state],
    ...(uid !== "" && { uid }),
    ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
  };
}
