/**
 * Calls of admission and conversion webhooks: JSON out, JSON in, over TLS, verified by the webhook's own `caBundle`.
 *
 * 1. Failures have the words of Go's client: people search for them.
 */
import { isIP } from "node:net";
import {
  type apiextensions,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  parseJson,
  serverResponse,
  writeJson,
} from "#api";
import { type Clock, HttpClient, httpFailureText, type NetworkAddress } from "#base";
import type { Tracer } from "#tracing";
import type { Egress } from "../egress/index.ts";

export const WEBHOOK_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const IDLE_CONNECTIONS = 4;
/** Service Unavailable: what a failed call counts as. */
export const UNREACHABLE = 503;
/** To one webhook. Further calls wait for a connection, within their deadline. */
const MAX_CONNECTIONS = 64;

export type WebhookAnswer =
  | { readonly ok: true; readonly value: Json }
  /** `code`: of its answer; 503 if there is none that can be read. */
  | { readonly ok: false; readonly message: string; readonly code: number };

export interface WebhookClient {
  /** `timeoutMs`: default 30 s. */
  post(body: JsonObject, timeoutMs?: number): Promise<WebhookAnswer>;
  /** Closes all connections once the calls under way have ended. */
  close(): void;
}

export interface WebhookClientOptions {
  readonly config: apiextensions.WebhookClientConfig;
  readonly clock: Clock;
  /** How this server authenticates itself to the webhook. */
  readonly identity?: WebhookIdentity | undefined;
  /** Calls during a traced request have spans, and name them to the webhook. */
  readonly tracer?: Tracer | undefined;
  /** Services are part of the cluster, URLs of the control plane's network. Absent: both are reached directly. */
  readonly egress?: Egress | undefined;
  /** Called with the error of a connection that could not be made, or broke. */
  onFailedConnection?: ((cause: unknown) => void) | undefined;
  /** Where a Service can be reached now. Throws if nowhere, in words for the client. */
  resolve(namespace: string, name: string, port: number): NetworkAddress;
}

export interface WebhookIdentity {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The header `authorization`. */
  readonly authorization?: string | undefined;
}

interface Target {
  /** With its port, as the configuration has it. */
  readonly host: string;
  readonly path: string;
  /** The name that its certificate must have; undefined for an address. */
  readonly serverName: string | undefined;
  address(): NetworkAddress;
}

export function webhookClient(options: WebhookClientOptions): WebhookClient {
  const { config, clock, identity = {}, tracer, egress, resolve, onFailedConnection } = options;
  const target = targetOf(config, resolve);
  const { authorization, cert, key } = identity;
  const client = new HttpClient({
    clock,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
    maxConnections: MAX_CONNECTIONS,
    maxIdleConnections: IDLE_CONNECTIONS,
    dial: config.service === undefined ? egress?.controlplane : egress?.cluster,
    tls: { ca: caBundleOf(config), cert, key, serverName: target.serverName },
  });
  const headers = {
    host: target.host,
    accept: "application/json, */*",
    "content-type": "application/json",
    ...(authorization !== undefined && { authorization }),
  };
  return {
    close: () => client.closeWhenIdle(),
    post: async (body, timeoutMs = WEBHOOK_TIMEOUT_MS) => {
      const url = `https://${target.host}${target.path}?timeout=${Math.ceil(timeoutMs / 1000)}s`;
      const failed = (why: string) => ({ ok: false, message: `Post "${url}": ${why}`, code: UNREACHABLE }) as const;
      let address: NetworkAddress;
      try {
        address = target.address();
      } catch (error) {
        return failed(error instanceof Error ? error.message : String(error));
      }
      const span = tracer?.calls("HTTP POST", { "http.request.method": "POST", "url.full": url });
      const all = span === undefined ? headers : { ...headers, ...span.headers() };
      const result = await client.send({ url, headers: all, body: Buffer.from(writeJson(body)), address, timeoutMs });
      if (!result.ok) span?.fail(httpFailureText(result));
      else span?.set({ "http.response.status_code": result.status });
      span?.end();
      if (!result.ok) {
        if (result.reason === "connection") onFailedConnection?.(result.cause);
        return failed(httpFailureText(result));
      }
      const text = result.body.toString("utf8");
      if (result.status >= 200 && result.status <= 206) return parsed(text);
      return { ok: false, message: serverResponse(result.status, text).message, code: result.status };
    },
  };
}

/** The authorities that a webhook's certificate is verified by. A bundle of only white space counts as none. */
export function caBundleOf({ caBundle = "" }: apiextensions.WebhookClientConfig): string | undefined {
  const pem = Buffer.from(caBundle, "base64").toString("utf8");
  return pem.trim() === "" ? undefined : pem;
}

function targetOf(
  { url, service }: apiextensions.WebhookClientConfig,
  resolve: WebhookClientOptions["resolve"],
): Target {
  if (service !== undefined) {
    const { namespace, name, path = "/", port = 443 } = service;
    const serverName = `${name}.${namespace}.svc`;
    return { host: `${serverName}:${port}`, path, serverName, address: () => resolve(namespace, name, port) };
  }
  const { host, hostname, pathname, port } = new URL(url ?? "");
  const address = { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 443 : Number(port) };
  return { host, path: pathname, serverName: isIP(address.host) === 0 ? hostname : undefined, address: () => address };
}

/** The JSON of an answer, or the words of Kubernetes' client for an answer that is none. */
export function parsed(text: string): WebhookAnswer {
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const message = `couldn't get version/kind; json parse error: ${error.message}`;
    return { ok: false, message, code: UNREACHABLE };
  }
}
