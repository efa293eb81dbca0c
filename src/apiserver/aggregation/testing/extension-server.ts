/**
 * An extension API server for tests: TLS, users by X-Remote-… headers that are trusted only from the front proxy,
 * discovery, and a resource that can be listed, watched, written and attached to. It can be made to fail in every way.
 */
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { realClock } from "#base";
import { createAuthority } from "#pki";

export const GROUP = "wardle.example.com";
export const VERSION = "v1alpha1";
export const BASE = `/apis/${GROUP}/${VERSION}`;
export const FLUNDERS = `${BASE}/namespaces/default/flunders`;
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export type Mood =
  /** Answers. */
  | "well"
  /** Takes requests and never answers. */
  | "hangs"
  /** Answers with what nobody can read. */
  | "garbage"
  /** Answers with 500 to everything. */
  | "fails"
  /** Says that everything is elsewhere. */
  | "redirects";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly version: string;
  readonly headers: IncomingHttpHeaders;
  /** All values of a header. */
  all(name: string): readonly string[];
  /** Whether the connection is that of the front proxy. */
  readonly byProxy: boolean;
}

export interface ExtensionServer {
  readonly port: number;
  /** PEM, in base64: who signed its certificate. */
  readonly caBundle: string;
  readonly seen: readonly Seen[];
  readonly state: {
    mood: Mood;
    /** Only the older form of discovery, as servers of some years ago. */
    older: boolean;
  };
  /** Streams that are open now: watches and upgraded connections. */
  readonly open: number;
  /** Sends an event to all watches. */
  emit(event: object): void;
  close(): Promise<void>;
}

export interface ExtensionServerOptions {
  /** PEM: the authority of the front proxy. */
  readonly frontProxyCa: string;
  readonly protocols?: readonly ("h2" | "http/1.1")[];
  readonly dnsNames?: readonly string[];
}

type Request = IncomingMessage | Http2ServerRequest;
/** Both versions of HTTP have one that can do all that is done here. */
type Response = ServerResponse;

export async function extensionServer(options: ExtensionServerOptions): Promise<ExtensionServer> {
  const authority = await createAuthority({ commonName: "wardle-ca", clock: realClock() });
  const { dnsNames = ["wardle.default.svc"], protocols = ["h2", "http/1.1"] } = options;
  const pair = await authority.issue({ commonName: "wardle", dnsNames, usages: ["server"] });
  const tls = {
    cert: pair.certPem,
    key: pair.keyPem,
    ca: options.frontProxyCa,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = protocols.includes("h2") ? createSecureServer({ ...tls, allowHTTP1: true }) : createServer(tls);
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const watches = new Set<Response>();
  let upgraded = 0;
  const state = { mood: "well" as Mood, older: false };

  const answer = (response: Response, status: number, body: unknown, type = "application/json") => {
    response.writeHead(status, { "content-type": type, "x-served-by": "wardle", "access-control-allow-origin": "*" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request: Request, given: ServerResponse | Http2ServerResponse) => {
    const response = given as Response;
    const note = noteOf(request);
    seen.push(note);
    if (state.mood === "hangs") return;
    if (state.mood === "garbage") return answer(response, 200, `{"kind":[[[`, AGGREGATED);
    if (state.mood === "fails") return answer(response, 500, "boom", "text/plain");
    if (state.mood === "redirects") {
      response.writeHead(302, { location: "https://elsewhere.example.com/" });
      return void response.end();
    }
    if (!note.byProxy) return answer(response, 401, { kind: "Status", code: 401, reason: "Unauthorized" });
    void serve(request, response, note);
  });
  server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    seen.push(noteOf(request));
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\n\r\nhello ");
    upgraded++;
    socket.once("close", () => upgraded--);
    socket.pipe(socket);
  });

  async function serve(request: Request, response: Response, { method, url }: Seen): Promise<void> {
    const { pathname, searchParams } = new URL(url, "https://x");
    const document = documents(pathname, state.older, request.headers.accept ?? "");
    if (document !== undefined) return answer(response, 200, document.body, document.type);
    if (searchParams.has("watch")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`${JSON.stringify({ type: "ADDED", object: flunder("first") })}\n`);
      watches.add(response);
      response.once("close", () => watches.delete(response));
      return;
    }
    if (pathname === FLUNDERS || pathname === `${BASE}/flunders`) {
      if (method === "POST") return answer(response, 201, JSON.parse(await text(request)));
      return answer(response, 200, table(request.headers.accept ?? ""));
    }
    if (pathname === `${FLUNDERS}/first`) return answer(response, 200, flunder("first"));
    if (pathname === `${FLUNDERS}/echo`) {
      // Every part is answered before the next one comes.
      response.writeHead(200, { "content-type": "text/plain" });
      for await (const chunk of request) response.write(chunk);
      response.end();
      return;
    }
    answer(response, 404, { kind: "Status", apiVersion: "v1", status: "Failure", code: 404, reason: "NotFound" });
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(authority.certPem).toString("base64"),
    seen,
    state,
    get open() {
      return watches.size + upgraded;
    },
    emit: (event) => {
      for (const watch of watches) watch.write(`${JSON.stringify(event)}\n`);
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };

  function noteOf(request: Request): Seen {
    const { method = "", url = "", headers, rawHeaders, httpVersion } = request;
    const socket = ("stream" in request ? request.stream?.session?.socket : request.socket) as TLSSocket | undefined;
    const byProxy = socket?.authorized === true && socket.getPeerCertificate().subject.CN === "front-proxy-client";
    return { method, url, version: httpVersion, headers, byProxy, all: (name) => valuesOf(rawHeaders, name) };
  }
}

export function flunder(name: string) {
  return {
    kind: "Flunder",
    apiVersion: `${GROUP}/${VERSION}`,
    metadata: { name, namespace: "default", resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z" },
  };
}

/** For kubectl, which asks for rows. */
function table(accept: string) {
  const list = { kind: "FlunderList", apiVersion: `${GROUP}/${VERSION}`, metadata: { resourceVersion: "7" } };
  if (!accept.includes("as=Table")) return { ...list, items: [flunder("first")] };
  const columnDefinitions = [{ name: "Name", type: "string", format: "name", description: "", priority: 0 }];
  const rows = [
    { cells: ["first"], object: { ...flunder("first"), kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } },
  ];
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "7" }, columnDefinitions, rows };
}

const RESOURCE = {
  name: "flunders",
  singularName: "flunder",
  namespaced: true,
  kind: "Flunder",
  verbs: ["create", "get", "list", "watch"],
  shortNames: ["fl"],
};
const STATUS = { name: "flunders/status", singularName: "", namespaced: true, kind: "Flunder", verbs: ["get"] };

function documents(path: string, older: boolean, accept: string): { body: unknown; type?: string } | undefined {
  if (path === BASE) {
    const list = { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${GROUP}/${VERSION}` };
    return { body: { ...list, resources: [RESOURCE, STATUS] } };
  }
  if (path === "/apis" && !older && accept.includes("APIGroupDiscoveryList")) {
    return { type: AGGREGATED, body: aggregated() };
  }
  const operation = {
    operationId: "listFlunders",
    responses: { 200: { schema: { $ref: "#/definitions/wardle.Flunder" } } },
  };
  const type = {
    type: "object",
    "x-kubernetes-group-version-kind": [{ group: GROUP, version: VERSION, kind: "Flunder" }],
  };
  if (path === "/openapi/v2") {
    return {
      body: {
        swagger: "2.0",
        paths: { [`${BASE}/flunders`]: { get: operation }, "/version": { get: operation } },
        definitions: { "wardle.Flunder": type, "wardle.Other": type },
      },
    };
  }
  if (path === "/openapi/v3") {
    const serverRelativeURL = `/openapi/v3${BASE}?hash=ABC`;
    return { body: { paths: { [BASE.slice(1)]: { serverRelativeURL }, version: { serverRelativeURL: "/x" } } } };
  }
  if (path === `/openapi/v3${BASE}`) {
    const list = {
      "x-kubernetes-action": "list",
      "x-kubernetes-group-version-kind": { group: GROUP, version: VERSION, kind: "Flunder" },
    };
    const paths = { [`${BASE}/namespaces/{namespace}/flunders`]: { get: list } };
    return { body: { openapi: "3.0.0", components: { schemas: { "wardle.Flunder": type } }, paths } };
  }
  return undefined;
}

function aggregated() {
  const responseKind = { group: GROUP, version: VERSION, kind: "Flunder" };
  const { name, singularName, verbs, shortNames } = RESOURCE;
  const subresources = [{ subresource: "status", responseKind, verbs: ["get"] }];
  const resource = {
    resource: name,
    responseKind,
    scope: "Namespaced",
    singularResource: singularName,
    verbs,
    shortNames,
  };
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: [
      {
        metadata: { name: GROUP },
        versions: [{ version: VERSION, freshness: "Current", resources: [{ ...resource, subresources }] }],
      },
    ],
  };
}

function valuesOf(raw: readonly string[], name: string): readonly string[] {
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}

async function text(request: Request): Promise<string> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}
