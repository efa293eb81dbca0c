/** Paths that are not about resources: health, version, metrics, discovery, OpenAPI, snapshots. */
import { encodeEnvelope, encodeProtobuf, type Kind, notAcceptable, serverResponse, typeSchema } from "#api";
import { type MetricsRegistry, metricsContentType } from "#base";
import { writeSnapshot } from "#store";
import { Discovery, type PreparedDocument, rootPaths, servedVersions, type Wanted } from "./discovery/index.ts";
import { textOf } from "./encode/answers.ts";
import { answerHealth, type HealthCheck } from "./health.ts";
import type { ApiRequest, ApiResponse } from "./http/exchange.ts";
import type { RequestInfo } from "./http/request-info.ts";
import { answerOpenApi, installedDescriptions, OpenApi } from "./openapi/index.ts";
import { BODY_TYPES } from "./rest/body.ts";
import type { ServerContext } from "./rest/server-context.ts";
import { KUBERNETES_VERSION, versionInfo } from "./version.ts";

export interface RouteOptions {
  readonly context: ServerContext;
  readonly kinds: readonly Kind[];
  readonly metrics: MetricsRegistry;
  readonly health: Readonly<Record<string, readonly HealthCheck[]>>;
}

export function nonResourceRoutes({
  context,
  kinds,
  metrics,
  health,
}: RouteOptions): (request: ApiRequest, info: RequestInfo) => Promise<ApiResponse | undefined> {
  const { log, store, clock } = context;
  const discovery = new Discovery({ serverAddress: "127.0.0.1:6443" });
  const openApi = new OpenApi({
    descriptions: installedDescriptions(import.meta.url),
    kubernetesVersion: `v${KUBERNETES_VERSION.major}.${KUBERNETES_VERSION.minor}.${KUBERNETES_VERSION.patch}`,
  });
  const versions = servedVersions(kinds);
  discovery.set(...versions);
  openApi.set(...versions);
  const own = [...Object.keys(health).map((name) => `/${name}`), "/metrics", "/openapi/v2", "/openapi/v3", "/version"];

  return async (request, info) => {
    const { path, query, headers } = request;
    if (path === "/version" || path === "/version/") return onlyGet(info, () => json(versionInfo()));
    const [, first = "", ...rest] = path.split("/");
    const checks = health[first];
    if (checks !== undefined) {
      const question = {
        endpoint: first,
        ...(rest.length > 0 && { only: rest.join("/") }),
        verbose: query.has("verbose"),
        exclude: query.getAll("exclude"),
      };
      const { status, body } = await answerHealth(question, checks, log);
      return text(status, body);
    }
    if (path === "/metrics") return text(200, metrics.text(), metricsContentType);
    if (path === "/" || path === "") return json(rootPaths(discovery.paths(), own).value());
    if (first === "openapi") return openApiAnswer(openApi, request, clock.now());
    if (path === "/k8ts/snapshot") {
      return {
        status: 200,
        headers: { "content-type": "application/octet-stream" },
        stream: async (sink) => {
          for await (const chunk of writeSnapshot(store, clock)) sink.write(chunk);
        },
      };
    }
    const found = discovery.answer(path, headers.accept);
    if (found.outcome === "notFound") return undefined;
    if (found.outcome === "notAcceptable") throw notAcceptable(BODY_TYPES);
    return onlyGet(info, () => discoveryAnswer(found.document, found.wanted, request));
  };
}

function openApiAnswer(openApi: OpenApi, { path, query, headers }: ApiRequest, now: number): ApiResponse | undefined {
  const answer = answerOpenApi(
    openApi,
    {
      path,
      hash: query.get("hash") ?? "",
      ...(headers.accept !== undefined && { accept: headers.accept }),
      ...(headers["if-none-match"] !== undefined && { ifNoneMatch: headers["if-none-match"] }),
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

/** The document in the encoding asked for. */
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

/** Answers with 304 if the client has it already. */
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
