/**
 * The verb, resource and object of a request, from its method and path: what audit, fairness and authorization work
 * with.
 *
 *     /api/v1/namespaces/NS/pods/NAME/log          → get pods/log NAME in NS
 *     /apis/apps/v1/deployments?watch=true         → watch deployments everywhere
 *     /healthz                                     → not about a resource
 *
 * Speed (2026-11-18): `RequestInfos` remembers paths, because most differ only in the name of an object. A GET in the
 * process takes 3.1 instead of 4.5 µs of processor time, with audit 7.2 instead of 19.3 µs, since audit and metrics
 * keep what they know by `topic`.
 * `request-info.test.ts` compares it with `requestInfo`, its plain twin.
 */

import { FieldSelectorError, parseFieldSelector } from "#api";
import { table } from "#base";

export interface RequestInfo {
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case. */
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The path after the subresource, for proxies. */
  readonly rest: string;
  /**
   * The same object for requests that differ only in the name: a key to remember results by that do not depend on
   * names. Absent for rare paths.
   */
  readonly topic?: object;
}

const VERBS: Record<string, string> = table({
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
  GET: "get",
  HEAD: "get",
});
/** Under /namespaces/NAME these are subresources of the namespace; everything else is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

/** Paths of collections that are remembered. Beyond this number all are dropped. */
const REMEMBERED = 4096;

/** `requestInfo` with a memory: most paths differ only in the name at their end, or before their subresource. */
export class RequestInfos {
  /** By method, then by path. The path of an object is kept up to its name, with the slash. */
  readonly #known = new Map<string, Map<string, KnownInfo>>();
  /** By method, then by the path before the name, then by the subresource. */
  readonly #behind = new Map<string, Map<string, Map<string, KnownInfo>>>();
  #size = 0;

  of(method: string, path: string, query: URLSearchParams): RequestInfo {
    const at = path.lastIndexOf("/") + 1;
    if (at === path.length || query.size > 0) return requestInfo(method, path, query);
    const known = this.#known.get(method);
    const collection = path.slice(0, at);
    const about = known?.get(collection);
    if (about !== undefined && !path.includes("%", at)) return new KnownInfo(about, path, path.slice(at), about);
    return known?.get(path) ?? this.#ofPart(method, path, at) ?? this.#learn(method, path, collection, query);
  }

  /** `at`: where the last part of the path begins, which may be a subresource. */
  #ofPart(method: string, path: string, at: number): RequestInfo | undefined {
    const nameAt = path.lastIndexOf("/", at - 2) + 1;
    const about = this.#behind.get(method)?.get(path.slice(0, nameAt))?.get(path.slice(at));
    if (about === undefined || nameAt >= at - 1 || path.includes("%", nameAt)) return undefined;
    return new KnownInfo(about, path, path.slice(nameAt, at - 1), about);
  }

  #learn(method: string, path: string, collection: string, query: URLSearchParams): RequestInfo {
    const info = requestInfo(method, path, query);
    const { name, subresource, rest } = info;
    // With an empty part, a collection and the name behind it may be other parts than they seem to be.
    if (!info.isResourceRequest || rest !== "" || path.includes("%") || path.includes("//")) return info;
    if (subresource !== "") return this.#learnPart(method, info);
    // The namespace of a Namespace is its own name: these differ in more than the name.
    const ofObject = name !== "" && path === collection + name && !collection.endsWith("/namespaces/");
    if (name !== "" && !ofObject) return info;
    this.#makeRoom();
    const about = new KnownInfo(info, path, name);
    const known = this.#known.get(method) ?? new Map<string, KnownInfo>();
    this.#known.set(method, known.set(ofObject ? collection : path, about));
    return about;
  }

  #learnPart(method: string, info: RequestInfo): RequestInfo {
    const { path, name, subresource } = info;
    const end = `/${name}/${subresource}`;
    const before = path.slice(0, path.length - end.length + 1);
    if (name === "" || !path.endsWith(end) || before.endsWith("/namespaces/")) return info;
    this.#makeRoom();
    const about = new KnownInfo(info, path, name);
    const ofMethod = this.#behind.get(method) ?? new Map<string, Map<string, KnownInfo>>();
    const ofCollection = ofMethod.get(before) ?? new Map<string, KnownInfo>();
    this.#behind.set(method, ofMethod.set(before, ofCollection.set(subresource, about)));
    return about;
  }

  #makeRoom(): void {
    this.#size += 1;
    if (this.#size <= REMEMBERED) return;
    this.#known.clear();
    this.#behind.clear();
    this.#size = 1;
  }
}

class KnownInfo implements RequestInfo {
  readonly path: string;
  readonly verb: string;
  readonly isResourceRequest = true;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly rest = "";
  readonly topic: object;

  constructor(like: RequestInfo, path: string, name: string, topic?: object) {
    this.path = path;
    this.verb = like.verb;
    this.apiGroup = like.apiGroup;
    this.apiVersion = like.apiVersion;
    this.namespace = like.namespace;
    this.resource = like.resource;
    this.subresource = like.subresource;
    this.name = name;
    this.topic = topic ?? this;
  }
}

export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = partsOf(path);
  const grouped = parts[0] === "apis";
  if (parts[0] !== "api" && !grouped) return otherPath(method, path, "", "");
  const apiGroup = (grouped && parts[1]) || "";
  const apiVersion = parts[grouped ? 2 : 1] ?? "";
  let at = grouped ? 3 : 2;
  if (parts.length <= at) return otherPath(method, path, apiGroup, apiVersion);

  let verb = VERBS[method] ?? "";
  // The deprecated form /watch/… of a watch.
  if (parts[at] === "watch" && parts.length > at + 1) {
    verb = "watch";
    at++;
  }
  let namespace = "";
  if (parts[at] === "namespaces" && parts.length > at + 1) {
    namespace = parts[at + 1] ?? "";
    if (parts.length > at + 2 && !NAMESPACE_SUBRESOURCES.has(parts[at + 2] ?? "")) at += 2;
  }
  let name = decode(parts[at + 1] ?? "");
  if (verb === "get" && name === "") {
    verb = isTrue(query.get("watch")) ? "watch" : "list";
    name = selectedName(query.get("fieldSelector") ?? "");
  }
  if (verb === "delete" && name === "") verb = "deletecollection";
  return {
    path,
    verb,
    isResourceRequest: true,
    apiGroup,
    apiVersion,
    namespace: decode(namespace),
    resource: decode(parts[at] ?? ""),
    subresource: decode(parts[at + 2] ?? ""),
    name,
    rest:
      parts.length <= at + 3
        ? ""
        : parts
            .slice(at + 3)
            .map(decode)
            .join("/"),
  };
}

/** The parts between slashes. Empty ones are left out. */
function partsOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.indexOf("", 1) === -1 && parts[0] === "" ? parts.slice(1) : parts.filter((part) => part !== "");
}

function otherPath(method: string, path: string, apiGroup: string, apiVersion: string): RequestInfo {
  return {
    path,
    verb: method.toLowerCase(),
    isResourceRequest: false,
    apiGroup,
    apiVersion,
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    rest: "",
  };
}

/** A boolean query parameter as Kubernetes reads it: everything but `false` and `0` is true, also an empty value. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** A list or watch of a single name counts as a request for that object, so that rules with resourceNames apply. */
function selectedName(fieldSelector: string): string {
  if (!fieldSelector.includes("metadata.name")) return "";
  try {
    const { terms } = parseFieldSelector(fieldSelector);
    const value = terms.find(({ field, operator }) => field === "metadata.name" && operator === "=")?.value ?? "";
    return value === "." || value === ".." || /[/%]/.test(value) ? "" : value;
  } catch (error) {
    // The verb reports what is wrong with it.
    if (error instanceof FieldSelectorError) return "";
    throw error;
  }
}

function decode(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
