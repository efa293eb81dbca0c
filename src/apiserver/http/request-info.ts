/**
 * What a request is about, read from its method and path alone: the first thing that the pipeline finds out, and what audit, flow control and
 * authorization go by.
 *
 *     /api/v1/namespaces/NS/pods/NAME/log          → get pods/log NAME in NS
 *     /apis/apps/v1/deployments?watch=true         → watch deployments everywhere
 *     /healthz                                     → not about a resource
 */
import { FieldSelectorError, parseFieldSelector } from "#api";

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
  /** What stands behind the subresource, for proxies. */
  readonly rest: string;
}

const VERBS: Record<string, string> = {
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
  GET: "get",
  HEAD: "get",
};
/** Under /namespaces/NAME these are subresources of the namespace, everything else is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = partsOf(path);
  const grouped = parts[0] === "apis";
  if (parts[0] !== "api" && !grouped) return otherPath(method, path, "", "");
  const apiGroup = (grouped && parts[1]) || "";
  const apiVersion = parts[grouped ? 2 : 1] ?? "";
  let at = grouped ? 3 : 2;
  if (parts.length <= at) return otherPath(method, path, apiGroup, apiVersion);

  let verb = VERBS[method] ?? "";
  // The old form /watch/… of a watch.
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

/** What stands between the slashes; nothing does between two of them. */
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

/** As the API reads a parameter that is a boolean: whatever is not plainly false is true, also one without a value. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** A list or watch of one name is about that object: whoever may see only some names may ask for these. */
function selectedName(fieldSelector: string): string {
  if (!fieldSelector.includes("metadata.name")) return "";
  try {
    const { terms } = parseFieldSelector(fieldSelector);
    const value = terms.find(({ field, operator }) => field === "metadata.name" && operator === "=")?.value ?? "";
    return value === "." || value === ".." || /[/%]/.test(value) ? "" : value;
  } catch (error) {
    // The verb says what is wrong with it.
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
