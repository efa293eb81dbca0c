/**
 * Endpoints of registries.yaml whose repositories have other names: containerd asks the pull proxy, which asks them.
 *
 *     containerd ──► /rewrite/SECRET/<registry>/<n>/v2/<repository>/… ──► https://endpoint/v2/<rewritten>/…
 *
 * 1. Credentials and challenges pass as they are: containerd signs in at the endpoint.
 * 2. The path holds the secret: Pods do not have it.
 */
import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { Logger } from "#base";
import { type RewrittenEndpoint, rewrittenRepository } from "../../registries/index.ts";

const PREFIX = "rewrite";
/** What follows the repository in a path of the distribution API. */
const REPOSITORY = /^\/v2\/(.+?)(\/(?:manifests|blobs|tags|referrers)\/.*)$/;

export function rewriteUrl(host: string, port: number, secret: string): string {
  return `http://${host}:${port}/${PREFIX}/${secret}`;
}

export interface Rewritten {
  readonly endpoint: RewrittenEndpoint;
  /** At the endpoint, with the query. */
  readonly path: string;
}

/** Undefined: the path leads to none. */
export function rewrittenTarget(
  url: string,
  secret: string,
  endpoints: ReadonlyMap<string, RewrittenEndpoint>,
): Rewritten | undefined {
  const start = `/${PREFIX}/${secret}/`;
  if (!url.startsWith(start)) return undefined;
  const [, key = "", rest = ""] = /^([^/]+\/\d+)(\/v2\/.*)$/.exec(url.slice(start.length)) ?? [];
  const endpoint = endpoints.get(key);
  if (endpoint === undefined) return undefined;
  const [pathname = "", query] = rest.split(/\?(.*)/s);
  const [, repository, more = ""] = REPOSITORY.exec(pathname) ?? [];
  const path = repository === undefined ? pathname : `/v2/${rewrittenRepository(repository, endpoint.rewrites)}${more}`;
  const base = endpoint.url.pathname.replace(/\/(v2\/?)?$/, "");
  return { endpoint, path: `${base}${path}${query === undefined ? "" : `?${query}`}` };
}

export function passToEndpoint(
  incoming: IncomingMessage,
  response: ServerResponse,
  { endpoint, path }: Rewritten,
  { log, track }: { readonly log: Logger; readonly track: (socket: Socket) => Socket },
): void {
  const { url, tls } = endpoint;
  const isTls = url.protocol === "https:";
  const { host: _, ...headers } = incoming.headers;
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port || (isTls ? 443 : 80),
    path,
    method: incoming.method ?? "GET",
    headers: { ...headers, host: url.host },
    ...(isTls && { ca: tls?.ca, cert: tls?.cert, key: tls?.key, rejectUnauthorized: tls?.insecureSkipVerify !== true }),
  };
  const outgoing = (isTls ? requestHttps : requestHttp)(options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on("socket", track);
  outgoing.on("error", (error) => {
    log.debug("a mirror could not be reached", { target: url.host, error });
    if (response.headersSent) response.destroy();
    else response.writeHead(502, error.message.replace(/[^\x20-\x7e]+/g, " ")).end();
  });
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}
