/** What goes on to kubelets: requests, refusals, and connections that become streams of their own. */
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type core, isStatusError } from "#api";
import { realClock } from "#base";
import { type Authority, createAuthority } from "#pki";
import { alwaysAllow } from "../authz/always.ts";
import { ALLOW, NO_OPINION } from "../authz/verdict.ts";
import { bootstrap } from "../bootstrap/bootstrap.ts";
import { type TestServer, testServer } from "../bootstrap/testing/server.ts";
import { type ApiResponse, isStream } from "../http/exchange.ts";
import { requestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { dispatch } from "../pipeline/dispatch.ts";
import { type ConnectOptions, connectors } from "./connectors.ts";

const ADMIN: UserInfo = { name: "admin", groups: ["system:masters"] };
const READER: UserInfo = { name: "reader", groups: [] };

describe("a kubelet behind the API server", () => {
  let server: TestServer;
  let kubelet: Server;
  let asked: string[];
  let answer: { status: number; body: string; headers?: Record<string, string> } = { status: 200, body: "" };
  const connections = new Set<Duplex>();
  let stopping: AbortController;
  let authority: Authority;
  let reach: Pick<ConnectOptions, "kubeletIdentity" | "kubelets">;

  beforeEach(async () => {
    stopping = new AbortController();
    asked = [];
    reach = {};
    authority = await createAuthority({ commonName: "test", clock: realClock() });
    const names = { ipAddresses: ["127.0.0.1"] };
    const { certPem: cert, keyPem: key } = await authority.issue({
      commonName: "kubelet",
      usages: ["server"],
      ...names,
    });
    kubelet = createServer({ cert, key, requestCert: true, rejectUnauthorized: false, ca: authority.certPem });
    kubelet.on("request", ({ method, url }, response) => {
      asked.push(`${method} ${url}`);
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    kubelet.on("upgrade", ({ method, url, headers }, socket) => {
      connections.add(socket);
      asked.push(`${method} ${url} ${headers.upgrade} ${headers["x-stream-protocol-version"]}`);
      socket.on("error", () => {});
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\nx-chosen: v4\r\n\r\nhello ",
      );
      socket.pipe(socket);
    });
    kubelet.listen(0, "127.0.0.1");
    await once(kubelet, "listening");
    server = await testServer();
    await bootstrap(server.context, server.resources);
    const { port } = kubelet.address() as AddressInfo;
    await server.create("", "nodes", {
      metadata: { name: "n" },
      status: {
        addresses: [
          { type: "Hostname", address: "no-such-name" },
          { type: "InternalIP", address: "127.0.0.1" },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    });
    const containers = [{ name: "c", image: "img" }];
    await server.create("", "pods", {
      metadata: { name: "p", namespace: "default" },
      spec: { nodeName: "n", containers },
    });
  });
  afterEach(async () => {
    for (const each of connections) each.destroy();
    await server[Symbol.asyncDispose]();
    kubelet.close();
    await once(kubelet, "close");
  });

  async function ask(method: string, target: string, user = ADMIN, upgrade = false): Promise<ApiResponse> {
    const [path = "", search = ""] = target.split("?");
    const { context, resources } = server;
    const upgrading = {
      connection: "Upgrade",
      upgrade: "echo",
      "x-stream-protocol-version": "v5, v4",
      authorization: "secret",
    };
    const exchange = {
      method,
      path,
      query: new URLSearchParams(search),
      headers: upgrade ? upgrading : {},
      user,
      isUpgrade: upgrade,
      body: async () => Buffer.alloc(0),
      signal: new AbortController().signal,
    };
    const authorize = ({ user: { name }, verb }: { user: UserInfo; verb: string }) =>
      name === "admin" || verb === "get" ? ALLOW : NO_OPINION;
    const { rulesFor } = alwaysAllow();
    const authenticateToken = async () => undefined;
    const options = { context, resources, authenticateToken, authorize, rulesFor, stopping: stopping.signal, ...reach };
    const parts = { context, resources, stopping: stopping.signal, connectors: connectors(options as never) };
    const info = requestInfo(method, path, exchange.query);
    return await dispatch(exchange, info, parts, { warn: () => {}, annotate: () => {} });
  }
  const at = (what: string) => `/api/v1/namespaces/default/pods/p/${what}`;

  async function outcome(asking: Promise<ApiResponse>): Promise<string> {
    try {
      const response = await asking;
      if (!isStream(response)) return `${response.status} ${response.headers.location ?? ""}`;
      const chunks: Buffer[] = [];
      const { signal } = stopping;
      await response.stream({ write: (bytes) => chunks.push(bytes) && 0, drop: () => {}, signal });
      return `${response.status} ${Buffer.concat(chunks)}`;
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return `${error.code} ${error.reason} ${error.message}`;
    }
  }

  it.each([
    { status: 200, body: "line\n", want: "200 line\n" },
    { status: 400, body: 'container "c" is waiting', want: '400 BadRequest container "c" is waiting' },
    { status: 500, body: "broken", want: "500 InternalError Internal error occurred: broken" },
    { status: 404, body: "gone", want: "404 NotFound the server could not find the requested resource" },
  ])("a log that is answered with $status", async ({ want, ...given }) => {
    answer = given;
    expect(await outcome(ask("GET", at("log?follow=true&tailLines=5&container=c&pretty=true")))).toBe(want);
    expect(asked).toEqual(["GET /containerLogs/default/p/c?follow=true&tailLines=5"]);
  });

  it.each([
    {
      method: "POST",
      what: "exec?container=c&stdin=true&stdout=true&stderr=false&tty=1&command=ls&command=-l",
      want: "POST /exec/default/p/c?input=1&output=1&tty=1&command=ls&command=-l echo v5, v4",
    },
    { method: "GET", what: "attach?stdout=true", want: "GET /attach/default/p/c?output=1 echo v5, v4" },
    { method: "GET", what: "portforward?ports=80", want: "GET /portForward/default/p?port=80 echo v5, v4" },
    { method: "GET", what: "log?follow=true", want: "GET /containerLogs/default/p/c?follow=true echo v5, v4" },
  ])("$what becomes one connection with the kubelet's", async ({ method, what, want }) => {
    const response = await ask(method, at(what), ADMIN, true);
    expect(asked).toEqual([want]);
    expect(response).toMatchObject({
      status: 101,
      headers: { connection: "Upgrade", upgrade: "echo", "x-chosen": "v4" },
    });
    const [ours, theirs] = duplexPair();
    const joined = (response as { upgrade?: (caller: Duplex) => Promise<void> }).upgrade?.(theirs);
    ours.write("world");
    let seen = "";
    for await (const bytes of ours) {
      seen += bytes;
      if (seen === "hello world") break;
    }
    ours.destroy();
    await joined;
    expect(seen).toBe("hello world");
  });

  it.each([
    ["/api/v1/namespaces/default/pods/q/log"],
    ["/api/v1/namespaces/default/pods/q/exec?stdout=true&command=ls", true],
    ["/api/v1/namespaces/default/pods/q/attach?stdout=true", true],
    ["/api/v1/namespaces/default/pods/q/portforward?ports=80", true],
    ["/api/v1/namespaces/default/pods/q/proxy/"],
    ["/api/v1/nodes/simulated/proxy/healthz"],
    ["/api/v1/nodes/simulated:80/proxy/"],
  ])("is not asked where the node is simulated: %s", async (path, upgrade = false) => {
    const found = server.get("", "nodes", "n") as core.Node;
    const nodeInfo = { containerRuntimeVersion: "simulated://1.36.4" };
    await server.create("", "nodes", { metadata: { name: "simulated" }, status: { ...found.status, nodeInfo } });
    await server.create("", "pods", {
      metadata: { name: "q", namespace: "default" },
      spec: { nodeName: "simulated", containers: [{ name: "c", image: "img" }] },
      status: { podIP: "192.0.2.1" },
    });
    const said = await outcome(ask("GET", path, ADMIN, upgrade));
    expect(said).toMatch(/^501 {2}node "simulated" is simulated: no containers run there, so there are no logs/);
    expect(asked).toEqual([]);
  });

  it("a WebSocket takes the right to create, though it begins with GET", async () => {
    expect(await outcome(ask("GET", at("exec?stdout=true"), READER, true))).toBe(
      '403 Forbidden pods "p" is forbidden: User "reader" cannot create resource "pods/exec" in API group "" in the namespace "default"',
    );
    expect(asked).toEqual([]);
  });

  it("so does a connection through the proxy of a node, behind which is a kubelet that runs commands", async () => {
    const path = "/api/v1/nodes/n/proxy/exec/default/p/c?output=1&command=id";
    expect(await outcome(ask("GET", path, READER, true))).toContain("403 Forbidden");
    expect(asked).toEqual([]);
    expect(await ask("GET", path, ADMIN, true)).toMatchObject({ status: 101 });
  });

  it("streams end with the server", async () => {
    const response = await ask("POST", at("exec?stdout=true"), ADMIN, true);
    const [ours, theirs] = duplexPair();
    const joined = (response as { upgrade?: (caller: Duplex) => Promise<void> }).upgrade?.(theirs);
    stopping.abort();
    await joined;
    ours.destroy();
  });

  it("a kubelet that declines is heard", async () => {
    kubelet.removeAllListeners("upgrade");
    answer = { status: 404, body: "container not found" };
    expect(await outcome(ask("POST", at("exec?stdout=true"), ADMIN, true))).toBe("404 container not found");
  });

  it("is checked where it is said who signs for kubelets", async () => {
    answer = { status: 200, body: "ok" };
    reach = { kubeletIdentity: () => ({ ca: authority.certPem }) };
    expect(await outcome(ask("GET", at("log")))).toBe("200 ok");
    const other = await createAuthority({ commonName: "other", clock: realClock() });
    reach = { kubeletIdentity: () => ({ ca: other.certPem }) };
    const refused = await outcome(ask("GET", at("log")));
    expect(refused).toMatch(/^500 .*Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/default\/p\/c": .*certificate/);
    expect(asked).toHaveLength(1);
  });

  it("is reached by the address that is preferred, and has so long to answer", async () => {
    reach = { kubelets: { addressTypes: ["Hostname", "InternalIP"] } };
    expect(await outcome(ask("GET", at("log")))).toMatch(/^500 .*no-such-name/);
    reach = { kubelets: { addressTypes: ["ExternalIP"] } };
    expect(await outcome(ask("GET", at("log")))).toContain("no preferred addresses found; known addresses: [{Hostname");
    kubelet.removeAllListeners("request");
    reach = { kubelets: { timeoutMs: 50 } };
    expect(await outcome(ask("GET", at("log")))).toMatch(/^500 .*timeout/);
  });

  it("the proxy of a node, and of a path without its slash", async () => {
    answer = { status: 200, body: "ok" };
    expect(await outcome(ask("GET", "/api/v1/nodes/n/proxy/healthz?verbose=1"))).toBe("200 ok");
    expect(await outcome(ask("GET", "/api/v1/nodes/n/proxy?a=b"))).toBe("301 /api/v1/nodes/n/proxy/?a=b");
    expect(asked).toEqual(["GET /healthz?verbose=1"]);
  });

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("a proxy passes on %s", async (method) => {
    answer = { status: 200, body: "" };
    expect(await outcome(ask(method, "/api/v1/nodes/n/proxy/some/path"))).toBe("200 ");
    expect(asked).toEqual([`${method} /some/path`]);
  });

  it("links of a page lead through the proxy", async () => {
    const headers = { "content-type": "text/html; charset=utf-8" };
    answer = { status: 200, body: '<a href="/logs/x">x</a><a href="y">y</a>', headers };
    expect(await outcome(ask("GET", "/api/v1/nodes/n/proxy/logs/"))).toBe(
      '200 <a href="/api/v1/nodes/n/proxy/logs/x">x</a><a href="y">y</a>',
    );
    answer = { ...answer, headers: { "content-type": "text/plain" } };
    expect(await outcome(ask("GET", "/api/v1/nodes/n/proxy/logs/"))).toBe(`200 ${answer.body}`);
  });
});
