/**
 * Calls to a webhook: JSON out, JSON in, over TLS, checked by the authority that its owner names.
 *
 * 1. A call ends within its time, whatever the other side does, and its answer is bounded.
 * 2. What goes wrong is told in the words that Go's client has for it: people look for them.
 */
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import { type apiextensions, type Json, type JsonObject, JsonSyntaxError, parseJson, serverResponse } from "#api";
import type { Clock } from "#base";
import { dialError } from "./dial-error.ts";

export const WEBHOOK_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const IDLE_CONNECTIONS = 4;
/** To one webhook at a time. Calls beyond wait for a connection, within their time. */
const MAX_CONNECTIONS = 64;

export type WebhookAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string };

export interface WebhookClient {
  /** `timeoutMs`: default 30 s. */
  post(body: JsonObject, timeoutMs?: number): Promise<WebhookAnswer>;
  /** Calls under way are finished; then no connection is left. */
  close(): void;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface WebhookClientOptions {
  readonly config: apiextensions.WebhookClientConfig;
  readonly clock: Clock;
  /** Who this server is to the webhook, if anybody. */
  readonly identity?: WebhookIdentity;
  /** Where a Service can be reached now. Throws if nowhere, in words for who asked. */
  resolve(namespace: string, name: string, port: number): Address;
}

export interface WebhookIdentity {
  readonly cert?: string;
  readonly key?: string;
  /** Of the header `authorization`. */
  readonly authorization?: string;
}

interface Target {
  /** With its port, as people wrote it. */
  readonly host: string;
  readonly path: string;
  /** That its certificate has to bear; empty for an address. */
  readonly serverName: string;
  address(): Address;
}

export function webhookClient({ config, clock, identity = {}, resolve }: WebhookClientOptions): WebhookClient {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS, maxSockets: MAX_CONNECTIONS });
  const ca = caBundleOf(config);
  const target = targetOf(config, resolve);
  const { authorization, ...certificate } = identity;
  const headers = {
    host: target.host,
    accept: "application/json, */*",
    "content-type": "application/json",
    ...(authorization !== undefined && { authorization }),
  };
  let [calls, closed] = [0, false];
  return {
    close: () => {
      closed = true;
      if (calls === 0) agent.destroy();
    },
    post: async (body, timeoutMs = WEBHOOK_TIMEOUT_MS) => {
      calls++;
      const path = `${target.path}?timeout=${Math.ceil(timeoutMs / 1000)}s`;
      try {
        const { host, port } = target.address();
        const options: RequestOptions = {
          agent,
          host,
          port,
          servername: target.serverName,
          path,
          method: "POST",
          headers,
          ...certificate,
          ...(ca !== undefined && { ca }),
        };
        const { status, text } = await exchange(options, Buffer.from(JSON.stringify(body)), timeoutMs, clock);
        if (status < 200 || status > 206) return { ok: false, message: serverResponse(status, text).message };
        return parsed(text);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { ok: false, message: `Post "https://${target.host}${path}": ${why}` };
      } finally {
        calls--;
        if (closed && calls === 0) agent.destroy();
      }
    },
  };
}

/** Of the certificates that a webhook is checked by; only space is as good as none. */
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
  return { host, path: pathname, serverName: isIP(address.host) === 0 ? hostname : "", address: () => address };
}

function parsed(text: string): WebhookAnswer {
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { ok: false, message: `couldn't get version/kind; json parse error: ${error.message}` };
  }
}

interface Exchanged {
  readonly status: number;
  readonly text: string;
}

/** Throws what went wrong, in words for people. */
async function exchange(options: RequestOptions, body: Buffer, timeoutMs: number, clock: Clock): Promise<Exchanged> {
  const late = new AbortController();
  const timer = clock.timer(timeoutMs, () => late.abort());
  try {
    for (;;) {
      const { promise, isReused } = attempt(options, body, late.signal);
      try {
        return await promise;
      } catch (error) {
        // The other side may end a connection that has been idle at the very moment in which it is used again.
        const ended = isReused() && (error as NodeJS.ErrnoException).code === "ECONNRESET";
        if (late.signal.aborted) throw new Error("context deadline exceeded", { cause: error });
        if (!ended) throw new Error(wordsOf(error as Error, options), { cause: error });
      }
    }
  } finally {
    timer.cancel();
  }
}

function attempt(options: RequestOptions, body: Buffer, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  const headers = { ...options.headers, "content-length": body.length };
  const request = httpsRequest({ ...options, headers, signal });
  request.once("error", reject);
  request.once("response", (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) request.destroy(new Error("http: response body too large"));
    });
    response.once("error", reject);
    response.once("end", () =>
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
    );
  });
  request.end(body);
  return { promise, isReused: () => request.reusedSocket };
}

const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate signed by unknown authority",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate signed by unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate signed by unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate signed by unknown authority",
  CERT_HAS_EXPIRED: "certificate has expired or is not yet valid",
  CERT_NOT_YET_VALID: "certificate has expired or is not yet valid",
};

function wordsOf(error: Error, { host, port }: RequestOptions): string {
  const code = "code" in error ? String(error.code) : "";
  const fault = CERTIFICATE_FAULTS[code];
  if (fault !== undefined) return `tls: failed to verify certificate: x509: ${fault}`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `tls: failed to verify certificate: x509: ${nameFault(error)}`;
  return dialError(error, String(host), Number(port));
}

interface NameError extends Error {
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** For whom the certificate is, and for whom it is not. */
function nameFault({ host = "", cert }: NameError): string {
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .map((name) => name.replace(/^(?:DNS|IP Address):/, ""))
    .filter((name) => name !== "");
  if (names.length === 0) return `certificate is not valid for any names, but wanted to match ${host}`;
  return `certificate is valid for ${names.join(", ")}, not ${host}`;
}
