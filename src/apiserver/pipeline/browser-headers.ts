/**
 * Headers for browsers: pages of which origins may use this server (CORS), and that it is only reached over TLS (HSTS).
 *
 * 1. A preflight request of an allowed origin is answered before anybody is authenticated: browsers send no credentials
 *    with it.
 */
import { RE2JS } from "re2js";
import type { ApiResponse } from "../http/exchange.ts";
import { passThrough, type Step } from "./compose.ts";
import type { Arrived } from "./exchange.ts";

const CORS_HEADERS = {
  "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
  "access-control-allow-headers":
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
  "access-control-expose-headers": "Date",
  "access-control-allow-credentials": "true",
};

const NO_CONTENT: ApiResponse = { status: 204, headers: {}, body: [] };

/** `origins`: regular expressions in Go's syntax. */
export function allowOrigins<E extends Arrived>(origins: readonly string[] = []): Step<E> {
  if (origins.length === 0) return passThrough;
  const patterns = origins.map((pattern) => RE2JS.compile(pattern));
  return (exchange, next) => {
    const { headers, method } = exchange.original;
    const { origin = "" } = headers;
    if (origin === "" || !patterns.some((pattern) => pattern.test(origin))) return next(exchange);
    Object.assign(exchange.headers, { "access-control-allow-origin": origin, ...CORS_HEADERS });
    return method === "OPTIONS" ? NO_CONTENT : next(exchange);
  };
}

/** `directives`: of the header Strict-Transport-Security. */
export function strictTransport<E extends Arrived>(directives: readonly string[] = []): Step<E> {
  if (directives.length === 0) return passThrough;
  const value = directives.join("; ");
  return (exchange, next) => {
    exchange.headers["strict-transport-security"] = value;
    return next(exchange);
  };
}
