/**
 * The attributes of a request for authorizers: user, verb, resource or path.
 *
 * 1. All but the selectors are plain values. Selectors are parsed when an authorizer uses them: most do not.
 * 2. An invalid selector counts as none, which asks for more.
 */

import {
  type FieldTerm,
  type LabelOperator,
  type LabelRequirement,
  parseFieldSelector,
  parseLabelSelector,
  type authorization as review,
} from "#api";
import { table } from "#base";
import type { RequestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";

export interface Attributes {
  readonly user: UserInfo;
  /** As in RequestInfo: get, list, watch, create …; for paths the method in lower case. */
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  /** "" for the cluster scope. */
  readonly namespace: string;
  readonly name: string;
  readonly selectors: Selectors;
}

/** The selectors of a list, a watch or a deletecollection. */
export interface Selectors {
  readonly field: readonly FieldTerm[];
  readonly label: readonly LabelRequirement[];
  /** Which of the two are invalid. */
  readonly unreadable: readonly ("fieldSelector" | "labelSelector")[];
}

export const NO_SELECTORS: Selectors = { field: [], label: [], unreadable: [] };

const SELECTING = new Set(["list", "watch", "deletecollection"]);
/** Paths of the deprecated watch API: their selectors are ignored. */
const OLD_WATCH = /^\/*(?:api|apis\/+[^/]+)\/+[^/]+\/+watch(?:\/|$)/;

/** The attributes of a request. */
export class RequestAttributes implements Attributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly selectors: Selectors;

  constructor(user: UserInfo, info: RequestInfo, query?: URLSearchParams) {
    this.user = user;
    this.verb = info.verb;
    this.isResourceRequest = info.isResourceRequest;
    this.path = info.path;
    this.apiGroup = info.apiGroup;
    this.apiVersion = info.apiVersion;
    this.resource = info.resource;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    const selecting = query !== undefined && info.isResourceRequest && SELECTING.has(info.verb);
    this.selectors = selecting ? new QuerySelectors(info.path, query) : NO_SELECTORS;
  }
}

class QuerySelectors implements Selectors {
  readonly #path: string;
  readonly #query: URLSearchParams;
  #read: Selectors | undefined;

  constructor(path: string, query: URLSearchParams) {
    this.#path = path;
    this.#query = query;
  }

  get field(): Selectors["field"] {
    return this.#selectors.field;
  }

  get label(): Selectors["label"] {
    return this.#selectors.label;
  }

  get unreadable(): Selectors["unreadable"] {
    return this.#selectors.unreadable;
  }

  get #selectors(): Selectors {
    this.#read ??= OLD_WATCH.test(this.#path)
      ? NO_SELECTORS
      : readSelectors(this.#query.get("fieldSelector") ?? "", this.#query.get("labelSelector") ?? "");
    return this.#read;
  }
}

type About = Partial<Omit<Attributes, "user" | "verb" | "isResourceRequest" | "path">>;

/** Attributes of a secondary check: may this user impersonate, bind, escalate … */
export function resourceAttributes(user: UserInfo, verb: string, about: About): Attributes {
  return {
    user,
    verb,
    isResourceRequest: true,
    path: "",
    apiGroup: "",
    apiVersion: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    selectors: NO_SELECTORS,
    ...about,
  };
}

/** The attributes of an access review. Without a version: all versions. */
export function reviewedAttributes(
  user: UserInfo,
  { resourceAttributes: about, nonResourceAttributes }: Omit<review.SubjectAccessReviewSpec, "user">,
): Attributes {
  if (about === undefined) {
    const { path = "", verb = "" } = nonResourceAttributes ?? {};
    return { ...resourceAttributes(user, verb, {}), isResourceRequest: false, path };
  }
  return resourceAttributes(user, about.verb ?? "", {
    apiGroup: about.group ?? "",
    apiVersion: about.version === undefined || about.version === "" ? "*" : about.version,
    resource: about.resource ?? "",
    subresource: about.subresource ?? "",
    namespace: about.namespace ?? "",
    name: about.name ?? "",
    selectors: reviewedSelectors(about),
  });
}

function readSelectors(field: string, label: string): Selectors {
  if (field === "" && label === "") return NO_SELECTORS;
  const unreadable: Selectors["unreadable"][number][] = [];
  return {
    field: readable(
      () => parseFieldSelector(field).terms,
      () => unreadable.push("fieldSelector"),
    ),
    label: readable(
      () => parseLabelSelector(label).requirements,
      () => unreadable.push("labelSelector"),
    ),
    unreadable,
  };
}

/** The verb reports invalid selectors to the client. */
function readable<T>(read: () => readonly T[], failed: () => void): readonly T[] {
  try {
    return read();
  } catch {
    failed();
    return [];
  }
}

const LABEL_OPERATORS: Readonly<Record<string, LabelOperator>> = table({
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
});

function reviewedSelectors({ fieldSelector, labelSelector }: review.ResourceAttributes): Selectors {
  if (fieldSelector === undefined && labelSelector === undefined) return NO_SELECTORS;
  const raw = readSelectors(fieldSelector?.rawSelector ?? "", labelSelector?.rawSelector ?? "");
  const unreadable = new Set(raw.unreadable);
  const field = [...raw.field];
  const label = [...raw.label];
  for (const { key, operator, values = [] } of fieldSelector?.requirements ?? []) {
    const [value] = values;
    if (values.length === 1 && value !== undefined && (operator === "In" || operator === "NotIn"))
      field.push({ field: key, operator: operator === "In" ? "=" : "!=", value });
    else unreadable.add("fieldSelector");
  }
  for (const { key, operator, values = [] } of labelSelector?.requirements ?? []) {
    const known = LABEL_OPERATORS[operator];
    if (known === undefined) unreadable.add("labelSelector");
    else label.push({ key, operator: known, values });
  }
  return { field, label, unreadable: [...unreadable] };
}
