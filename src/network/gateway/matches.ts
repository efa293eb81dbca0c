/**
 * Which requests a match of an HTTPRoute accepts. Regular expressions are RE2, which runs in linear time, and have to
 * match the whole value.
 */
import { RE2JS, RE2JSException } from "re2js";
import type { RequestInfo } from "../http/route.ts";
import type { RouteMatch, ValueMatch } from "./kinds.ts";

const MOST_PATTERN = 4096;

export type Matcher = (request: RequestInfo) => boolean;

/** Throws MatchError if the match is not supported. */
export function matcherOf({ path, method, headers = [], queryParams = [] }: RouteMatch): Matcher {
  const pathFits = pathMatcher(path);
  const headerTests = headers.map((each) => ({ name: each.name.toLowerCase(), fits: valueMatcher(each) }));
  const queryTests = queryParams.map((each) => ({ name: each.name, fits: valueMatcher(each) }));
  return (request) => {
    if (method !== undefined && method !== request.method) return false;
    if (!pathFits(request.path)) return false;
    if (!headerTests.every(({ name, fits }) => fits(headerOf(request, name)))) return false;
    if (queryTests.length === 0) return true;
    const query = new URLSearchParams(request.query);
    return queryTests.every(({ name, fits }) => fits(query.get(name) ?? undefined));
  };
}

export class MatchError extends Error {}

function headerOf({ headers }: RequestInfo, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}

function pathMatcher({ type = "PathPrefix", value = "/" }: NonNullable<RouteMatch["path"]> = {}) {
  if (type === "Exact") return (path: string) => path === value;
  if (type === "RegularExpression") {
    const pattern = compiled(value);
    return (path: string) => pattern.matches(path);
  }
  if (type !== "PathPrefix") throw new MatchError(`the path match type ${type} is not supported`);
  // Prefixes match whole path elements.
  const prefix = value.endsWith("/") ? value.slice(0, -1) : value;
  return (path: string) => path === prefix || path.startsWith(`${prefix}/`);
}

function valueMatcher({ type = "Exact", value }: ValueMatch): (text: string | undefined) => boolean {
  if (type === "Exact") return (text) => text === value;
  if (type !== "RegularExpression") throw new MatchError(`the match type ${type} is not supported`);
  const pattern = compiled(value);
  return (text) => text !== undefined && pattern.matches(text);
}

function compiled(pattern: string): RE2JS {
  if (pattern.length > MOST_PATTERN) throw new MatchError("a regular expression is too long");
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new MatchError(`${pattern} is not a regular expression: ${error.message}`);
  }
}
