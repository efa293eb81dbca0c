/**
 * Who may do what.
 *
 * 1. An authorizer answers at once when it can: most requests are decided without waiting for anything.
 * 2. Only `allow` lets a request pass. `deny` ends the chain, `noOpinion` leaves it to the next; none left is a refusal.
 */
import { forbidden, goQuote, internalError, type StatusError } from "#api";
import type { Attributes } from "./attributes.ts";
import type { Verdict } from "./verdict.ts";

export type Authorizer = (attributes: Attributes) => Verdict | Promise<Verdict>;

/** Throws what the caller is told, unless the request is allowed. Waits only where the authorizer does. `decided` hears the verdict, whatever it is. */
export function demand(
  authorize: Authorizer,
  attributes: Attributes,
  decided?: (verdict: Verdict) => void,
): void | Promise<void> {
  const verdict = authorize(attributes);
  if (verdict instanceof Promise) return verdict.then((late) => passOrThrow(attributes, late, decided));
  passOrThrow(attributes, verdict, decided);
}

/** Whether it is allowed, for rules that have something else to try. */
export function isAllowed(authorize: Authorizer, attributes: Attributes): boolean | Promise<boolean> {
  const verdict = authorize(attributes);
  return verdict instanceof Promise
    ? verdict.then(({ decision }) => decision === "allow")
    : verdict.decision === "allow";
}

/** What the audit log keeps of a verdict. */
export function annotate({ decision, reason, error }: Verdict, annotations: Map<string, string>): void {
  if (decision !== "allow" && error !== undefined) {
    annotations.set("authorization.k8s.io/reason", "internal error");
    return;
  }
  annotations.set("authorization.k8s.io/decision", decision === "allow" ? "allow" : "forbid");
  annotations.set("authorization.k8s.io/reason", reason);
}

function passOrThrow(attributes: Attributes, verdict: Verdict, decided?: (verdict: Verdict) => void): void {
  decided?.(verdict);
  if (verdict.decision === "allow") return;
  throw verdict.error === undefined ? denied(attributes, verdict.reason) : internalError(verdict.error);
}

export function denied(attributes: Attributes, reason = ""): StatusError {
  const { apiGroup: group, resource, name } = attributes;
  // Nothing that a caller chose may look like a tag in a browser.
  const message = sentence(attributes).replace(/[&<>]/g, (char) => HTML[char] ?? char);
  return forbidden({ group, resource }, name, reason === "" ? message : `${message}: ${reason}`);
}

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function sentence(attributes: Attributes): string {
  const { user, verb, isResourceRequest, path, apiGroup, resource, subresource, namespace } = attributes;
  const who = `User ${goQuote(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${goQuote(path)}`;
  const what = goQuote(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(apiGroup)} ${where}`;
}
