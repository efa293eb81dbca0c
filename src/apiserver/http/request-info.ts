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
  const parts = path.split("/").filter((part) => part !== "");
  const other: RequestInfo = {
    path,
    verb: method.toLowerCase(),
    isResourceRequest: false,
    apiGroup: "",
    apiVersion: "",
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    rest: "",
  };
  const grouped = parts[0] === "apis";
  if (parts[0] !== "api" && !grouped) return other;
  const [apiGroup, apiVersion] = grouped ? [parts[1] ?? "", parts[2] ?? ""] : ["", parts[1] ?? ""];
  let left = parts.slice(grouped ? 3 : 2);
  if (left.length === 0) return { ...other, apiGroup, apiVersion };

  let verb = VERBS[method] ?? "";
  // The old form /watch/… of a watch.
  if (left[0] === "watch" && left.length > 1) {
    verb = "watch";
    left = left.slice(1);
  }
  let namespace = "";
  if (left[0] === "namespaces" && left.length > 2 && !NAMESPACE_SUBRESOURCES.has(left[2] ?? "")) {
    namespace = left[1] ?? "";
    left = left.slice(2);
  } else if (left[0] === "namespaces" && left.length > 1) {
    namespace = left[1] ?? "";
  }
  const [resource = "", inPath = "", subresource = "", ...rest] = left.map(decode);
  let name = inPath;
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
    resource,
    subresource,
    name,
    rest: rest.join("/"),
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
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
