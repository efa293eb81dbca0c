/**
 * Who may do what.
 *
 * 1. An authorizer answers at once when it can: most requests are decided without waiting for anything.
 * 2. Only `allow` lets a request pass. `deny` ends the chain, `noOpinion` leaves it to the next; none left is a refusal.
 */

import { forbidden, goQuote, internalError, type StatusError } from "#api";
import { andThen, type Maybe } from "#base";
import type { Attributes } from "./attributes.ts";
import type { Verdict } from "./verdict.ts";

export type Authorizer = (attributes: Attributes) => Maybe<Verdict>;

/** Throws what the caller is told, unless the request is allowed. Waits only where the authorizer does. */
export function demand(authorize: Authorizer, attributes: Attributes): Maybe<void> {
  return andThen(authorize(attributes), (verdict) => demandAllowed(attributes, verdict));
}

/** Whether it is allowed, for rules that have something else to try. */
export function isAllowed(authorize: Authorizer, attributes: Attributes): Maybe<boolean> {
  return andThen(authorize(attributes), ({ decision }) => decision === "allow");
}

/** What the audit log keeps of a verdict. */
export function annotate(verdict: Verdict, annotations: Map<string, string>): void {
  const { decision, error } = verdict;
  const isFault = decision !== "allow" && error !== undefined;
  if (!isFault) annotations.set("authorization.k8s.io/decision", decision === "allow" ? "allow" : "forbid");
  annotations.set("authorization.k8s.io/reason", toldReason(verdict));
}

/** What went wrong in the server is for its log alone. */
export function toldReason({ decision, reason, error }: Verdict): string {
  return decision !== "allow" && error !== undefined ? "internal error" : reason;
}

/** Throws what the caller is told, unless the verdict lets the request pass. */
export function demandAllowed(attributes: Attributes, verdict: Verdict): void {
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
