/** Where a request goes, and what is changed on the way: the result of looking it up by Ingresses or HTTPRoutes. */

/** The parts of a request that routes are looked up by. */
export interface RequestInfo {
  /** The local port that the client connected to. */
  readonly port: number;
  /** The Host header or :authority, including a port. */
  readonly host: string;
  readonly path: string;
  /** Begins with the question mark, unless it is empty. */
  readonly query: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A port of a Service. */
export interface Backend {
  /** `namespace/name`. */
  readonly service: string;
  readonly port: string | number;
  /** Its endpoints speak HTTP/2 without TLS, whatever the Service says. */
  readonly http2?: boolean | undefined;
}

export interface Route {
  /** `namespace/name` of the Ingress or HTTPRoute. */
  readonly owner: string;
  /** Undefined if it cannot be served. */
  readonly backend: Backend | undefined;
  readonly changes?: RouteChanges;
}

/** What HTTPRoutes change about a request and its response. */
export interface RouteChanges {
  /** The request is answered here, without an endpoint. */
  readonly answer?: { readonly status: number; readonly location?: string };
  /** The path that the endpoint receives, without the query. */
  readonly path?: string | undefined;
  /** The host that the endpoint receives. */
  readonly host?: string | undefined;
  readonly requestHeaders?: readonly HeaderChanges[];
  readonly responseHeaders?: readonly HeaderChanges[];
  /** Backends that receive a copy of the request; their responses are discarded. */
  readonly mirrors?: readonly Backend[];
  /** For the whole exchange, until the response has been passed on. */
  readonly timeoutMs?: number | undefined;
}

export interface HeaderChanges {
  readonly set?: readonly { readonly name: string; readonly value: string }[];
  readonly add?: readonly { readonly name: string; readonly value: string }[];
  readonly remove?: readonly string[];
}

/** The host of a Host header in lower case, without the port and the trailing dot. */
export function hostOf(authority: string): string {
  const name = authority.startsWith("[") ? authority.slice(0, authority.indexOf("]") + 1) : authority.split(":", 1)[0];
  return (name ?? "").toLowerCase().replace(/\.$/, "");
}

/** `*.example.org` for `a.example.org`; undefined if there is no label before a dot. */
export function wildcardOf(host: string): string | undefined {
  const dot = host.indexOf(".");
  return dot > 0 ? `*${host.slice(dot)}` : undefined;
}
