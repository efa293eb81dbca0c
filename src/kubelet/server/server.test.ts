import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certified, verbAndSubresources } from "./access.ts";
import { TestKubeletServer, WEB } from "./testing/test-kubelet-server.ts";

describe("the kubelet's server", () => {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-kubelet-server-"));
  const logPath = join(dir, "0.log");
  let server: TestKubeletServer;

  beforeAll(async () => {
    writeFileSync(logPath, "2026-01-01T00:00:00Z stdout F hello\n2026-01-01T00:00:01Z stderr F oops\n");
    server = await new TestKubeletServer({
      pod: WEB,
      container: { logPath, state: "exited" },
      page: (path, accept) =>
        path === "/statusz" ? { status: 200, body: `the page of ${accept ?? "text/html"}` } : undefined,
      users: { "robot-token": "robot" },
      allowed: (user, verb, subresource) =>
        user === "admin" || (user === "robot" && verb === "get" && subresource === "healthz"),
    }).start();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each([
    { path: "/healthz", want: "200 ok" },
    { path: "/healthz/ping", want: "200 ok" },
    { path: "/healthz?verbose", want: "200 [+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n" },
    { path: "/healthz/none", want: "404 404 page not found\n" },
    { path: "/statusz", want: "200 the page of text/html" },
    { path: "/flagz", want: "404 404 page not found\n" },
    { path: "/nothing", want: "404 404 page not found\n" },
    { path: "/containerLogs/default/web/main", want: "200 hello\noops\n" },
    { path: "/containerLogs/default/web/main?tailLines=1&timestamps=true", want: "200 2026-01-01T00:00:01Z oops\n" },
    { path: "/containerLogs/default/web/main?stream=Stderr", want: "200 oops\n" },
    { path: "/containerLogs/default/web/main?limitBytes=3", want: "200 hel" },
    { path: "/containerLogs/default/web/main?follow=true", want: "200 hello\noops\n" },
    { path: "/containerLogs/default/web/none", want: '404 container "none" not found in pod "web"' },
    { path: "/containerLogs/default/none/main", want: '404 pod "none" does not exist' },
    {
      path: "/containerLogs/default/web/main?previous=true",
      want: '400 previous terminated container "main" in pod "web" not found',
    },
    { path: "/exec/default/web/main?output=1", want: "400 Upgrade request required" },
    {
      path: "/checkpoint/default/web/main",
      method: "POST",
      want: "500 checkpointing of default/web/main failed (container main is not running)",
    },
    { path: "/checkpoint/default/web/none", method: "POST", want: "404 container none does not exist in pod web" },
    { path: "/checkpoint/default/web/main", want: "405 405: Method Not Allowed" },
    { path: "/logs", want: "301 " },
    { path: "/run/default/web/main?cmd=echo%20hi", method: "POST", want: "200 echo+hi" },
    { path: "/pods", method: "DELETE", want: "405 405: Method Not Allowed" },
  ])("$path", async ({ path, method = "GET", want }) => {
    const { status, body } = await server.get(path, { method });
    expect(`${status} ${body}`).toBe(want);
  });

  it("checks its health whenever somebody looks at its service level", async () => {
    const { body } = await server.get("/metrics/slis");
    expect(body).toContain('kubernetes_healthcheck{name="ping",type="healthz"} 1\n');
    expect(body).toMatch(/^kubernetes_healthchecks_total\{name="ping",status="success",type="healthz"\} [1-9]/m);
    expect(body).not.toContain("kubelet_");
  });

  it("lists Pods, what runs, and its configuration", async () => {
    expect(JSON.parse((await server.get("/pods")).body)).toEqual({
      kind: "PodList",
      apiVersion: "v1",
      metadata: {},
      items: [WEB],
    });
    expect(JSON.parse((await server.get("/configz")).body)).toMatchObject({
      kubeletconfig: { port: 10250, maxPods: 110 },
    });
    expect((await server.get("/metrics")).body).toContain('kubelet_node_name{node="node-1"} 1\n');
  });

  describe.each(["at first", "after its certificate was renewed"])("%s", (when) => {
    beforeAll(async () => {
      if (when !== "at first") await server.renew();
    });

    it.each([
      { client: {}, want: /^TLS_/ },
      { client: { maxVersion: "TLSv1.2" as const }, want: /^ECDHE-ECDSA-.*(?:GCM|POLY1305)/ },
      { client: { maxVersion: "TLSv1.2" as const, ciphers: "ECDHE-ECDSA-AES128-SHA" }, want: undefined },
      { client: { maxVersion: "TLSv1.2" as const, ciphers: "ECDHE-ECDSA-AES128-SHA256" }, want: undefined },
      {
        client: { minVersion: "TLSv1" as const, maxVersion: "TLSv1.1" as const, ciphers: "DEFAULT:@SECLEVEL=0" },
        want: undefined,
      },
    ])("takes strong ciphers only: $client", async ({ client, want }) => {
      if (want === undefined) await expect(server.cipher(client)).rejects.toThrow(/handshake|alert|protocol/i);
      else expect(await server.cipher(client)).toMatch(want);
    });
  });

  it("knows callers by certificate or token, and asks what they may do only once", async () => {
    const as = "nobody";
    const headers = { authorization: "Bearer robot-token" };
    const before = server.asked.length;
    expect(await server.get("/healthz", { as, headers })).toEqual({ status: 200, body: "ok" });
    expect(await server.get("/healthz", { as, headers })).toEqual({ status: 200, body: "ok" });
    expect(await server.get("/pods", { as, headers })).toEqual({
      status: 403,
      body: "Forbidden (user=robot, verb=get, resource=nodes, subresource(s)=[pods proxy])\n",
    });
    expect(server.asked.slice(before)).toEqual([
      "token robot-token",
      "may robot get healthz",
      "may robot get pods",
      "may robot get proxy",
    ]);
    expect(await server.get("/healthz", { as })).toMatchObject({ status: 401 });
    expect(await server.get("/healthz", { as, headers: { authorization: "Bearer stranger" } })).toMatchObject({
      status: 401,
    });
    const other = await server.certificate("somebody", ["a", "b"]);
    expect(await server.get("/exec/default/web/main", { as: other, method: "POST" })).toEqual({
      status: 403,
      body: "Forbidden (user=somebody, verb=create, resource=nodes, subresource(s)=[proxy])\n",
    });
  });

  it.each(["/constructor", "/__proto__", "/metrics/constructor", "/healthz/constructor"])(
    "has nothing at %s, which every object has",
    async (path) => {
      expect((await server.get(path)).status).toBe(404);
    },
  );

  it("is not well when the kubelet is not", async () => {
    await using ill = await new TestKubeletServer({ problem: "PLEG is not healthy" }).start();
    expect(await ill.get("/healthz")).toMatchObject({
      status: 500,
      body: expect.stringContaining("[-]syncloop failed"),
    });
    expect(await ill.get("/healthz/ping")).toMatchObject({ status: 200 });
  });
});

describe("what a path asks for", () => {
  it.each([
    ["GET", "/stats/summary", "get stats"],
    ["GET", "/metrics", "get metrics"],
    ["GET", "/metrics/resource", "get metrics"],
    ["GET", "/logs/syslog", "get log"],
    ["POST", "/checkpoint/a/b/c", "create checkpoint"],
    ["GET", "/pods", "get pods,proxy"],
    ["GET", "/runningpods/", "get pods,proxy"],
    ["GET", "/pulls", "get proxy"],
    ["GET", "/healthz/ping", "get healthz,proxy"],
    ["GET", "/configz", "get configz,proxy"],
    ["GET", "/containerLogs/a/b/c", "get proxy"],
    ["POST", "/exec/a/b/c", "create proxy"],
    ["GET", "/exec/a/b/c", "create proxy"],
    ["GET", "/portForward/a/b", "create proxy"],
    ["GET", "/podsandmore", "get proxy"],
    ["GET", "/constructor", "get proxy"],
  ])("%s %s: %s", (method, path, want) => {
    const [verb, subresources] = verbAndSubresources({ method, path });
    expect(`${verb} ${subresources.join()}`).toBe(want);
  });

  it("a certificate that nobody vouches for names nobody", () => {
    const socket = { authorized: false, getPeerCertificate: () => ({ subject: { CN: "admin" } }) };
    expect(certified(socket as never)).toBeUndefined();
  });
});
