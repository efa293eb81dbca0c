/**
 * Who may do what.
 *
 * 1. An authorizer is synchronous where it can be, as for most requests.
 * 2. Only `allow` lets a request pass. `deny` ends the chain, `noOpinion` passes on to the next mode; after the last
 *    one it is a refusal.
 */

import { forbidden, goQuote, internalError, type StatusError } from "#api";
import { andThen, type Maybe, table } from "#base";
import type { Attributes } from "./attributes.ts";
import type { Verdict } from "./verdict.ts";

export type Authorizer = (attributes: Attributes) => Maybe<Verdict>;

/** Throws the client's error unless the request is allowed. Asynchronous only if the authorizer is. */
export function demand(authorize: Authorizer, attributes: Attributes): Maybe<void> {
  return andThen(authorize(attributes), (verdict) => demandAllowed(attributes, verdict));
}

/** Whether it is allowed, for checks with an alternative. */
export function isAllowed(authorize: Authorizer, attributes: Attributes): Maybe<boolean> {
  return andThen(authorize(attributes), ({ decision }) => decision === "allow");
}

/** The annotations of a verdict in the audit log. */
export function annotate(verdict: Verdict, annotations: Map<string, string>): void {
  const { decision, error } = verdict;
  const isFault = decision !== "allow" && error !== undefined;
  if (!isFault) annotations.set("authorization.k8s.io/decision", decision === "allow" ? "allow" : "forbid");
  annotations.set("authorization.k8s.io/reason", toldReason(verdict));
}

/** Errors of the server are for its log alone. */
export function toldReason({ decision, reason, error }: Verdict): string {
  return decision !== "allow" && error !== undefined ? "internal error" : reason;
}

/** Throws the client's error unless the verdict allows the request. */
export function demandAllowed(attributes: Attributes, verdict: Verdict): void {
  if (verdict.decision === "allow") return;
  throw verdict.error === undefined ? denied(attributes, verdict.reason) : internalError(verdict.error);
}

export function denied(attributes: Attributes, reason = ""): StatusError {
  const { apiGroup: group, resource, name } = attributes;
  // Text of the client must not be interpreted as HTML by a browser.
  const message = sentence(attributes).replace(/[&<>]/g, (char) => HTML[char] ?? char);
  return forbidden({ group, resource }, name, reason === "" ? message : `${message}: ${reason}`);
}

const HTML: Readonly<Record<string, string>> = table({ "&": "&amp;", "<": "&lt;", ">": "&gt;" });

function sentence(attributes: Attributes): string {
  const { user, verb, isResourceRequest, path, apiGroup, resource, subresource, namespace } = attributes;
  const who = `User ${goQuote(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${goQuote(path)}`;
  const what = goQuote(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(apiGroup)} ${where}`;
}
