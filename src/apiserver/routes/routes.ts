/** Paths that are not about resources: health, version, metrics, discovery, OpenAPI, snapshots. */
import { encodeEnvelope, encodeProtobuf, notAcceptable, serverResponse, typeSchema, writeJson } from "#api";
import { MetricsRegistry, metricsContentType, table } from "#base";
import { type Store, writeSnapshot } from "#store";
import type { IssuerDocuments } from "../authn/service-account/issuer.ts";
import { type PreparedDocument, rootPaths, type Wanted } from "../discovery/index.ts";
import { textOf } from "../encode/answers.ts";
import { answerFlows, FLOWS_PATH, type FlowsRoute } from "../flows/index.ts";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { answerOpenApi, type OpenApi } from "../openapi/index.ts";
import { HISTORY_PATH, historyAnswer, type Past } from "../past/index.ts";
import { BODY_TYPES } from "../rest/body.ts";
import type { ServerContext } from "../rest/server-context.ts";
import type { ApiDocuments } from "./api-documents.ts";
import { answerHealth, type HealthCheck } from "./health.ts";
import { healthMetrics } from "./health-metrics.ts";
import { versionInfo } from "./version.ts";
import { answerZPage, servedZPages, type ZPageFacts } from "./z-pages.ts";

const ISSUER_CONFIGURATION = "/.well-known/openid-configuration";
const ISSUER_KEYS = "/openid/v1/jwks";

export interface RouteOptions {
  readonly context: ServerContext;
  /** The store below encryption, which snapshots copy. Default: that of the context. */
  readonly rawStore?: Store | undefined;
  readonly documents: ApiDocuments;
  readonly metrics: MetricsRegistry;
  readonly health: Readonly<Record<string, readonly HealthCheck[]>>;
  /** The text of a path under /debug. */
  readonly debug?: ((path: string, query: URLSearchParams) => string | undefined) | undefined;
  /** Serves flow records. */
  readonly flows?: FlowsRoute | undefined;
  /** Times of revisions. */
  readonly past?: Past | undefined;
  /** Paths that other parts of the process answer. */
  readonly others?: Readonly<Record<string, (request: ApiRequest) => Promise<ApiResponse>>> | undefined;
  /** The metrics of all threads of the server, with those of this one. Default: these alone. */
  readonly allMetrics?: ((own: string) => Promise<string>) | undefined;
  /** How the server was started. */
  readonly start?: ServerStart | undefined;
  /** OpenID documents, for verifiers of service account tokens. */
  readonly issuerDocuments?: (() => IssuerDocuments) | undefined;
}

export interface ServerStart {
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  /** Values by the flags' names. */
  readonly flags: Readonly<Record<string, string>>;
}

export function nonResourceRoutes({
  context,
  rawStore = context.store,
  documents: { discovery, openApi },
  metrics,
  health,
  debug,
  flows,
  past,
  others = {},
  allMetrics = async (own) => own,
  start,
  issuerDocuments,
}: RouteOptions): (request: ApiRequest, info: RequestInfo) => Promise<ApiResponse | undefined> {
  const { log, clock } = context;
  const indicators = new MetricsRegistry();
  const observe = healthMetrics(indicators, start?.startedMs);
  const checksOf = table(health);
  const otherAt = table(others);
  const checked = Object.entries(health).flatMap(([endpoint, checks]) => [
    `/${endpoint}`,
    ...checks.map(({ name }) => `/${endpoint}/${name}`),
  ]);
  const own = [...checked, "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/version"];
  const zPages = start && zPagesOf(context, start, Object.keys(health));
  own.push(...(zPages?.served ?? []).map((name) => `/${name}`));
  if (issuerDocuments !== undefined) own.push(ISSUER_CONFIGURATION, ISSUER_KEYS);

  return async (request, info) => {
    const { path, query, headers } = request;
    if (path === "/version" || path === "/version/") return onlyGet(info, () => json(versionInfo(context.features)));
    const [, first = "", ...rest] = path.split("/");
    const checks = checksOf[first];
    if (checks !== undefined) {
      const question = {
        endpoint: first,
        only: rest.length > 0 ? rest.join("/") : undefined,
        verbose: query.has("verbose"),
        exclude: query.getAll("exclude"),
      };
      const { status, body } = await answerHealth(question, checks, log, observe);
      return text(status, body);
    }
    const issued = issuerDocuments && issuerAnswer(path, issuerDocuments);
    if (issued !== undefined) return onlyGet(info, () => issued);
    const dumped = first === "debug" ? debug?.(path, query) : undefined;
    if (dumped !== undefined) return text(200, dumped);
    const page = zPages && answerZPage(path, headers.accept, zPages, clock.now());
    if (page !== undefined) return onlyGet(info, () => ({ ...page, body: [Buffer.from(page.body)] }));
    if (path === "/metrics/slis") return text(200, indicators.text(), metricsContentType);
    if (path === "/metrics") return text(200, await allMetrics(metrics.text()), metricsContentType);
    if (path === "/" || path === "") return json(rootPaths(discovery.paths(), own).value());
    if (first === "openapi") return openApiAnswer(openApi, request, clock.now());
    if (path === FLOWS_PATH && flows !== undefined) {
      if (info.verb !== "get" && info.verb !== "post") throw serverResponse(405);
      return answerFlows(flows, request);
    }
    if (path === HISTORY_PATH && past !== undefined)
      return onlyGet(info, () => json(historyAnswer(query, past, context.feed.revision, clock)));
    const other = otherAt[path];
    if (other !== undefined) return other(request);
    if (path === "/k8ts/snapshot") {
      return {
        status: 200,
        headers: { "content-type": "application/octet-stream" },
        stream: async (sink) => {
          for await (const chunk of writeSnapshot(rawStore, clock)) sink.write(chunk);
        },
      };
    }
    const found = discovery.answer(path, headers.accept);
    if (found.outcome === "notFound") return undefined;
    if (found.outcome === "notAcceptable") throw notAcceptable(BODY_TYPES);
    return onlyGet(info, () => discoveryAnswer(found.document, found.wanted, request));
  };
}

function zPagesOf({ features }: ServerContext, start: ServerStart, health: readonly string[]): ZPageFacts {
  const served = servedZPages(features);
  const pages = served.map((name) => `/${name}`);
  const paths = [...health.map((name) => `/${name}`), ...pages, "/metrics", "/version"].sort();
  return { ...start, name: "apiserver", paths, served, version: versionInfo(features) };
}

/** The OpenID documents, which clients may cache for an hour. */
function issuerAnswer(path: string, documents: () => IssuerDocuments): ApiResponse | undefined {
  const answer = (type: string, value: object): ApiResponse => ({
    status: 200,
    headers: { "content-type": type, "cache-control": "public, max-age=3600" },
    body: [Buffer.from(writeJson(value))],
  });
  if (path === ISSUER_CONFIGURATION) return answer("application/json", documents().configuration);
  return path === ISSUER_KEYS ? answer("application/jwk-set+json", documents().keySet) : undefined;
}

function openApiAnswer(openApi: OpenApi, { path, query, headers }: ApiRequest, now: number): ApiResponse | undefined {
  const answer = answerOpenApi(
    openApi,
    {
      path,
      hash: query.get("hash") ?? "",
      accept: headers.accept,
      ifNoneMatch: headers["if-none-match"],
    },
    now,
  );
  return (
    answer && {
      status: answer.status,
      headers: answer.headers,
      body: answer.document === undefined ? [] : [answer.document.body],
    }
  );
}

/** The document in the encoding that the client accepts. */
function discoveryAnswer(
  document: PreparedDocument,
  { encoding, contentType }: Wanted,
  request: ApiRequest,
): ApiResponse {
  if (encoding === "json") return prepared(document, request, contentType);
  const value = document.value();
  const body =
    encoding === "yaml"
      ? textOf(value, "application/yaml", false)
      : Buffer.from(
          encodeEnvelope({
            apiVersion: String(value.apiVersion ?? "v1"),
            kind: String(value.kind),
            raw: encodeProtobuf(typeSchema(document.typeName), value),
          }),
        );
  return { status: 200, headers: { "content-type": contentType, vary: "Accept" }, body: [body] };
}

/** Answers with 304 if the client has the current document. */
function prepared(document: PreparedDocument, { headers }: ApiRequest, contentType: string): ApiResponse {
  const { etag } = document;
  if (headers["if-none-match"]?.includes(document.hash)) return { status: 304, headers: { etag }, body: [] };
  return { status: 200, headers: { "content-type": contentType, etag, vary: "Accept" }, body: [document.body] };
}

function onlyGet(info: RequestInfo, answer: () => ApiResponse): ApiResponse {
  if (info.verb !== "get" && info.verb !== "head") throw serverResponse(405);
  return answer();
}

function json(value: object): ApiResponse {
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: [textOf(value, "application/json", true)],
  };
}

function text(status: number, body: string, type = "text/plain; charset=utf-8"): ApiResponse {
  return { status, headers: { "content-type": type, "x-content-type-options": "nosniff" }, body: [Buffer.from(body)] };
}
