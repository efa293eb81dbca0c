/**
 * A request for an OpenAPI document → status, headers and the document. The caller sends it, with gzip if the client
 * accepts that.
 *
 * 1. A document requested by its hash may be cached for ever; a stale hash is redirected to the current one.
 */
import { type PreparedDocument, parseAccept } from "../discovery/index.ts";
import { type OpenApi, serverRelativeUrl } from "./open-api.ts";

export interface OpenApiRequest {
  /** Without the query. */
  readonly path: string;
  /** `?hash=` of the query. */
  readonly hash?: string;
  readonly accept?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface OpenApiAnswer {
  readonly status: 200 | 301 | 304 | 404 | 406;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a 200: its `body`, or `gzip`. */
  readonly document?: PreparedDocument;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const V3 = "/openapi/v3";
/** Subtypes of application/; the second is the older spelling. */
const PROTOBUF_V2 = "com.github.proto-openapi.spec.v2.v1.0+protobuf";
const PROTOBUF_V2_OLD = "com.github.proto-openapi.spec.v2@v1.0+protobuf";

/** `now`: milliseconds since the epoch. Undefined: not a path of OpenAPI. */
export function answerOpenApi(openApi: OpenApi, request: OpenApiRequest, now: number): OpenApiAnswer | undefined {
  const path = request.path.replace(/\/$/, "");
  // Kubernetes sets no content type; Go's sniffing yields this one.
  if (path === V3) return sent(openApi.indexV3, request, { "content-type": "text/plain; charset=utf-8" });
  if (path === "/openapi/v2") return version2(openApi, request);
  return path.startsWith(`${V3}/`) ? version3(openApi, path.slice(V3.length + 1), request, now) : undefined;
}

function version2(openApi: OpenApi, request: OpenApiRequest): OpenApiAnswer {
  const vary = { vary: "Accept" };
  const wanted = wantedType(request.accept, ["json", PROTOBUF_V2, PROTOBUF_V2_OLD]);
  if (wanted === undefined) return { status: 406, headers: vary };
  if (wanted === "json") return sent(openApi.documentV2, request, { ...vary, "content-type": "application/json" });
  return sent(openApi.documentV2Protobuf, request, { ...vary, "content-type": `application/${PROTOBUF_V2}` });
}

function version3(openApi: OpenApi, name: string, request: OpenApiRequest, now: number): OpenApiAnswer {
  const vary = { vary: "Accept" };
  const document = openApi.documentV3(name);
  if (document === undefined) return { status: 404, headers: vary };
  if (wantedType(request.accept, ["json"]) === undefined) return { status: 406, headers: vary };
  const headers = { ...vary, "content-type": "application/json" };
  const { hash = "" } = request;
  if (hash === "") return sent(document, request, headers);
  if (hash !== document.hash) {
    return { status: 301, headers: { ...vary, location: serverRelativeUrl(name, document) } };
  }
  const expires = new Date(now + YEAR_MS).toUTCString();
  return sent(document, request, { ...headers, "cache-control": "public, immutable", expires });
}

function sent(
  document: PreparedDocument,
  { ifNoneMatch }: OpenApiRequest,
  headers: Readonly<Record<string, string>>,
): OpenApiAnswer {
  const { etag } = document;
  const known = ifNoneMatch?.split(",").map((it) => it.trim().replace(/^W\//, ""));
  if (known?.includes(etag) || ifNoneMatch === "*") return { status: 304, headers: { ...headers, etag } };
  return { status: 200, headers: { ...headers, etag }, document };
}

/** The first of `offered` that matches the preferred clause. */
function wantedType(accept: string | undefined, offered: readonly string[]): string | undefined {
  const clauses = parseAccept(accept === undefined || accept.trim() === "" ? "*/*" : accept);
  for (const { type, subtype } of clauses) {
    const found = offered.find((it) => (type === "*" || type === "application") && (subtype === "*" || subtype === it));
    if (found !== undefined) return found;
  }
  return undefined;
}
