/** Requests for tests of authentication. */
import type { ApiRequest } from "../../http/exchange.ts";

export interface RequestParts {
  readonly path?: string;
  /** As received: a name may be repeated. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly certificate?: ApiRequest["certificate"];
  readonly user?: ApiRequest["user"];
}

export function request({ path = "/api", headers = [], certificate, user }: RequestParts = {}): ApiRequest {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    // Node keeps the first of these, and joins others.
    if (joined[key] === undefined) joined[key] = value;
    else if (key !== "authorization") joined[key] += `, ${value}`;
  }
  return {
    method: "GET",
    path,
    query: new URLSearchParams(),
    headers: joined,
    rawHeaders: headers.flat(),
    body: async () => Buffer.alloc(0),
    signal: new AbortController().signal,
    ...(certificate !== undefined && { certificate }),
    ...(user !== undefined && { user }),
  };
}
