/** The options of lists and watches. Messages and allowed combinations are those of Kubernetes. */
import { badRequest, type FeatureGates, type FieldError, field, invalidStatus, StatusError } from "#api";
import type { Revision } from "#store";
import { isTrue } from "../../http/request-info.ts";
import { wholeNumber } from "../options.ts";

export interface ListOptions {
  readonly limit: number | undefined;
  readonly continue: string;
  /** Undefined: the newest state. */
  readonly resourceVersion: Revision | undefined;
  readonly match: "" | "Exact" | "NotOlderThan";
}

export interface WatchOptions {
  /** Undefined: starts at the newest state; 0: at any state. */
  readonly resourceVersion: Revision | undefined;
  readonly allowBookmarks: boolean;
  /** Undefined: the current objects are sent first unless a resourceVersion is given. */
  readonly sendInitialEvents: boolean | undefined;
  /** Undefined: the server chooses. */
  readonly timeoutSeconds: number | undefined;
}

const MATCHES = ["Exact", "NotOlderThan", ""];

export function listOptions(query: URLSearchParams): ListOptions {
  const { forbidden } = field;
  const limit = wholeNumber(query.get("limit"));
  wholeNumber(query.get("timeoutSeconds"));
  const version = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const token = query.get("continue") ?? "";
  const errors: FieldError[] = [];
  if (match !== "") {
    if (version === "")
      errors.push(
        forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    if (token !== "")
      errors.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
    if (!MATCHES.includes(match)) errors.push(field.notSupported("resourceVersionMatch", match, MATCHES));
    if (match === "Exact" && version === "0") {
      errors.push(
        forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
    }
  }
  if (query.has("sendInitialEvents"))
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  refuse(errors);
  if (token !== "" && version !== "" && version !== "0")
    throw badRequest("specifying resource version is not allowed when using continue");
  return {
    limit: limit === undefined || limit <= 0 ? undefined : limit,
    continue: token,
    resourceVersion: version === "" ? undefined : parseVersion(version, 400),
    match: match as ListOptions["match"],
  };
}

export function watchOptions(query: URLSearchParams, features: FeatureGates): WatchOptions {
  const version = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.has("sendInitialEvents");
  wholeNumber(query.get("limit"));
  const errors: FieldError[] = [];
  if (match !== "" && !initial) {
    errors.push(
      field.forbidden(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (initial && !features.enabled("WatchList")) {
    errors.push(
      field.forbidden(
        "sendInitialEvents",
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
      ),
    );
  } else if (initial && match !== "NotOlderThan") {
    errors.push(
      field.forbidden(
        "resourceVersionMatch",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
      ),
    );
    if (match !== "") errors.push(field.notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
  }
  refuse(errors);
  return {
    resourceVersion: version === "" ? undefined : parseVersion(version, 500),
    allowBookmarks: isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents: initial ? isTrue(query.get("sendInitialEvents")) : undefined,
    timeoutSeconds: wholeNumber(query.get("timeoutSeconds")) || undefined,
  };
}

/** A list answers 400, a watch 500 without a reason. */
export function parseVersion(text: string, code: 400 | 500): Revision {
  if (/^\d+$/.test(text)) return Number(text);
  const words = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw code === 500 ? new StatusError("", words, { code }) : badRequest(words);
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidStatus({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
}
