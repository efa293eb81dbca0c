/** The dashboard's server over real sockets: who gets in, what passes, what does not. */
import { on, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { silentLogger, VirtualClock } from "#base";
import { FakeApi, TOKEN } from "../testing/fake-api.ts";
import { type Dashboard, startDashboard } from "./start.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let api: FakeApi;
let dir: string;
let dashboard: Dashboard;
const clock = new VirtualClock();

beforeAll(async () => {
  api = await FakeApi.start();
  dir = await mkdtemp(join(tmpdir(), "k8ts-dashboard-assets-"));
  await writeFile(join(dir, "index.html"), '<!doctype html><meta content="{{nonce}}"><p>the page');
  await writeFile(join(dir, "page-1.js"), "1");
  await writeFile(join(dir, "secret.txt"), "not an asset");
  dashboard = await startDashboard({
    clock,
    log: silentLogger,
    port: 0,
    assets: dir,
    upstream: async () => api.upstream,
  });
});
afterAll(async () => {
  await dashboard.close();
  await api[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

async function send(
  url: string,
  { method = "GET", body = "", ...headers }: OutgoingHttpHeaders & { method?: string; body?: string } = {},
): Promise<Answer> {
  const call = request(url, { method, headers, agent: false }).end(body);
  const [response] = (await once(call, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

async function enter(): Promise<{ base: string; cookie: string; origin: string }> {
  const link = dashboard.newLink();
  const { headers } = await send(link);
  const base = link.replace(/\?.*/, "");
  return { base, cookie: String(headers["set-cookie"]?.[0]).split(";")[0] ?? "", origin: new URL(base).origin };
}

describe("the link", () => {
  it("comes from another process, too, if it has the secret", async () => {
    const { url, secret } = dashboard.access;
    for (const authorization of [undefined, "Bearer ", "Bearer wrong"])
      expect((await send(url, authorization === undefined ? {} : { authorization })).status).toBe(401);
    const { status, body } = await send(url, { authorization: `Bearer ${secret}` });
    expect(status).toBe(200);
    expect((await send(body.trim())).status).toBe(200);
  });

  it("works once, and gives a cookie that no script and no other site gets", async () => {
    const link = dashboard.newLink();
    const first = await send(link);
    expect(first.status).toBe(200);
    const path = new URL(link).pathname;
    expect(first.headers["set-cookie"]?.[0]).toMatch(
      new RegExp(`^k8ts-dashboard=[\\w-]{32}; Path=${path}; HttpOnly; SameSite=Strict$`),
    );
    const second = await send(link);
    expect(second.status).toBe(401);
    expect(second.headers["set-cookie"]).toBeUndefined();
    expect(second.body).toContain("is used or invalid");
  });

  it("is worth nothing once there is a newer one", async () => {
    const old = dashboard.newLink();
    dashboard.newLink();
    expect((await send(old)).status).toBe(401);
  });

  it("ends its session when it has not been used for long", async () => {
    const { base, cookie } = await enter();
    expect((await send(base, { cookie })).status).toBe(200);
    await clock.advance(13 * 3600 * 1000);
    expect((await send(base, { cookie })).status).toBe(401);
  });
});

describe("who gets in", () => {
  it.each<[string, (at: { base: string; cookie: string; origin: string }) => Promise<Answer>, number]>([
    ["the page with its cookie", ({ base, cookie }) => send(base, { cookie }), 200],
    ["nobody without a cookie", ({ base }) => send(base), 401],
    ["nobody with another cookie", ({ base }) => send(base, { cookie: "k8ts-dashboard=guess" }), 401],
    ["nobody to the API without a cookie", ({ base }) => send(`${base}proxy/api/v1/pods`), 401],
    ["nobody by another path", ({ base, cookie }) => send(new URL("/", base).href, { cookie }), 404],
    ["nobody by another name", ({ base, cookie }) => send(base, { cookie, host: "evil.example" }), 403],
    [
      "nobody by another name with our port",
      ({ base, cookie }) => send(base, { cookie, host: `evil.example:${new URL(base).port}` }),
      403,
    ],
    [
      "localhost is our name too",
      ({ base, cookie }) => send(base, { cookie, host: `localhost:${new URL(base).port}` }),
      200,
    ],
    [
      "no read from another page",
      ({ base, cookie }) => send(`${base}proxy/api`, { cookie, origin: "http://evil.example" }),
      403,
    ],
    [
      "no read from another port",
      ({ base, cookie }) => send(`${base}proxy/api`, { cookie, origin: "http://127.0.0.1:1" }),
      403,
    ],
    [
      "no read that a browser calls foreign",
      ({ base, cookie }) => send(`${base}proxy/api`, { cookie, "sec-fetch-site": "same-site" }),
      403,
    ],
    ["no write without an origin", ({ base, cookie }) => send(`${base}proxy/api`, { cookie, method: "POST" }), 403],
    [
      "no write from another page",
      ({ base, cookie }) => send(`${base}proxy/api`, { cookie, method: "POST", origin: "null" }),
      403,
    ],
    [
      "a write from the page",
      ({ base, cookie, origin }) => send(`${base}proxy/api`, { cookie, method: "POST", origin }),
      200,
    ],
  ])("%s", async (_, ask, status) => {
    expect((await ask(await enter())).status).toBe(status);
  });

  it("says on every answer that nothing may be loaded, framed or guessed", async () => {
    const { base, cookie } = await enter();
    for (const url of [base, `${base}proxy/api`, `${base}nothing`, new URL("/", base).href]) {
      const { headers } = await send(url, { cookie });
      expect(headers["content-security-policy"], url).toContain("default-src 'none'");
      expect(headers["content-security-policy"], url).toContain("frame-ancestors 'none'");
      expect(headers["x-content-type-options"], url).toBe("nosniff");
      expect(headers["referrer-policy"], url).toBe("no-referrer");
      expect(headers["access-control-allow-origin"], url).toBeUndefined();
    }
    const page = await send(base, { cookie });
    const nonce = /nonce-([\w-]+)/.exec(String(page.headers["content-security-policy"]))?.[1];
    expect(page.body).toContain(`content="${nonce}"`);
    expect(page.headers["content-security-policy"]).not.toContain("unsafe");
  });
});

describe("files", () => {
  it.each([
    ["page-1.js", 200],
    ["secret.txt", 404],
    ["missing.js", 404],
    ["..%2f..%2fetc%2fpasswd.js", 404],
  ])("%s: %d", async (name, status) => {
    const { base, cookie } = await enter();
    expect((await send(`${base}assets/${name}`, { cookie })).status).toBe(status);
  });
});

describe("the API", () => {
  it("hears the user's own credentials, and nothing that the page adds", async () => {
    const { base, cookie, origin } = await enter();
    const body = '{"a":1}';
    const { status } = await send(`${base}proxy/api/v1/namespaces/a/pods?dryRun=All`, {
      cookie,
      origin,
      method: "POST",
      body,
      "content-type": "application/json",
      authorization: "Bearer other",
      "impersonate-user": "root",
      "x-remote-user": "root",
      "k8ts-cause": "x",
    });
    expect(status).toBe(200);
    const asked = api.asked.at(-1);
    expect(asked).toMatchObject({ method: "POST", url: "/api/v1/namespaces/a/pods?dryRun=All", body });
    expect(asked?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, "content-type": "application/json" });
    for (const name of ["cookie", "origin", "impersonate-user", "x-remote-user", "k8ts-cause"]) {
      expect(asked?.headers, name).not.toHaveProperty(name);
    }
  });

  it("hands on what is refused, and makes text of what is no data", async () => {
    const { base, cookie } = await enter();
    expect(await send(`${base}proxy/forbidden`, { cookie })).toMatchObject({ status: 403 });
    const html = await send(`${base}proxy/html`, { cookie });
    expect(html.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(html.headers["content-security-policy"]).toContain("sandbox");
  });

  it.each([
    "/api/v1/namespaces/a/services/b/proxy/",
    "/api/v1/namespaces/a/pods/b/proxy",
    "/api/v1/nodes/b/proxy/logs",
    "/api/v1/namespaces/a/pods/b/prox%79/",
    "/api/v1/namespaces/a/pods/b/x/../proxy/",
    "/api/%zz",
  ])("does not reach others through %s", async (path) => {
    const { base, cookie } = await enter();
    const before = api.asked.length;
    expect((await send(`${base}proxy${path}`, { cookie })).status).toBe(403);
    expect(api.asked.length).toBe(before);
  });
});

describe("what a node pulls", () => {
  it.each([
    ["/api/v1/nodes/node-1/proxy/pulls", 200],
    ["/api/v1/nodes/node-1/proxy/pulls/../pods", 403],
    ["/api/v1/nodes/node-1/proxy/pods", 403],
    ["/api/v1/nodes/../pods/proxy/pulls", 403],
    ["/api/v1/nodes/node..1/proxy/pulls", 403],
    ["/api/v1/namespaces/a/pods/b/proxy/pulls", 403],
  ])("%s: %d", async (path, status) => {
    const { base, cookie } = await enter();
    const { port } = new URL(base);
    // As it stands: a URL would be made plain.
    const call = request({
      port,
      host: "127.0.0.1",
      path: `${new URL(base).pathname}proxy${path}`,
      headers: { cookie },
    });
    const [response] = (await once(call.end(), "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(status);
  });
});

describe("ports", () => {
  it("are opened for the page alone, in the server's words", async () => {
    const { base, cookie, origin } = await enter();
    const body = JSON.stringify({ resource: "pods", namespace: "a", name: "b", port: 80 });
    expect((await send(`${base}forwards`, { origin, method: "POST", body })).status).toBe(401);
    expect((await send(`${base}forwards`, { cookie, method: "POST", body })).status).toBe(403);
    // This server does not say that it is allowed.
    const refused = await send(`${base}forwards`, { cookie, origin, method: "POST", body });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([403, { kind: "Status", reason: "Forbidden" }]);
    expect(JSON.parse((await send(`${base}forwards`, { cookie })).body)).toEqual({ items: [] });
    expect((await send(`${base}forwards/1`, { cookie, origin, method: "DELETE" })).status).toBe(404);
    expect((await send(`${base}forwards/1`, { cookie, origin, method: "PUT" })).status).toBe(405);
  });
});

describe("other clusters", () => {
  it("of a user who is not the admin are none", async () => {
    const { base, cookie, origin } = await enter();
    expect(JSON.parse((await send(`${base}clusters`, { cookie })).body)).toEqual({ items: [] });
    const link = await send(`${base}clusters?name=default`, { cookie, origin, method: "POST" });
    expect([link.status, JSON.parse(link.body)]).toMatchObject([403, { reason: "Forbidden" }]);
    expect((await send(`${base}clusters?name=default`, { cookie, method: "POST" })).status).toBe(403);
  });
});

describe("the parts of the cluster", () => {
  it("are for the page alone, if the command gives them", async () => {
    const { base, cookie } = await enter();
    expect((await send(`${base}cluster`)).status).toBe(401);
    expect((await send(`${base}cluster`, { cookie })).status).toBe(404);
  });
});

describe("streams", () => {
  /** What comes, one message after the other, none lost. */
  const listen = (socket: WebSocket) => {
    const messages = on(socket, "message");
    return async () => JSON.parse(String((await messages.next()).value?.[0])) as object;
  };

  it("carry watches over one WebSocket, and end them with it", async () => {
    const { base, cookie, origin } = await enter();
    const socket = new WebSocket(`${base.replace("http", "ws")}streams`, { headers: { cookie, origin } });
    const told = listen(socket);
    await once(socket, "open");
    socket.send(JSON.stringify({ open: 1, path: "/api/v1/pods?watch=true" }));
    expect(await told()).toEqual({ id: 1, status: 200 });
    api.watches.at(-1)?.write('{"type":"ADDED"}\n');
    expect(await told()).toEqual({ id: 1, text: '{"type":"ADDED"}\n' });
    expect(api.asked.at(-1)?.headers.accept).toBe("application/json");
    socket.send(JSON.stringify({ open: 2, path: "/forbidden", metadata: true }));
    expect(await told()).toEqual({ id: 2, status: 403 });
    expect(api.asked.at(-1)?.headers.accept).toContain("as=PartialObjectMetadata;");
    expect(await told()).toMatchObject({ id: 2, text: expect.stringContaining("no") });
    expect(await told()).toEqual({ id: 2, end: "" });
    socket.send(JSON.stringify({ open: 3, path: "/api/v1/nodes/n/proxy/" }));
    expect(await told()).toEqual({ id: 3, end: "refused" });
    const watch = api.watches.at(-1);
    const closed = watch === undefined ? Promise.resolve() : once(watch, "close");
    socket.close();
    await closed;
  });

  it.each([
    ["without a cookie", { cookie: "" }, 401],
    ["from another page", { origin: "http://evil.example" }, 403],
    ["without an origin", { origin: undefined }, 403],
  ])("are refused %s", async (_, wrong, status) => {
    const { base, cookie, origin } = await enter();
    const headers = Object.fromEntries(
      Object.entries({ cookie, origin, ...wrong }).filter(([, value]) => value !== undefined),
    );
    const socket = new WebSocket(`${base.replace("http", "ws")}streams`, { headers });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain(String(status));
  });

  it("of exec pass as they are, with the user's credentials", async () => {
    const { base, cookie, origin } = await enter();
    const path = "proxy/api/v1/namespaces/a/pods/b/exec?command=sh&stdin=true";
    const socket = new WebSocket(base.replace("http", "ws") + path, "v5.channel.k8s.io", {
      headers: { cookie, origin },
    });
    await once(socket, "open");
    expect(socket.protocol).toBe("v5.channel.k8s.io");
    expect(api.asked.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` });
    expect(api.asked.at(-1)?.headers).not.toHaveProperty("cookie");
    const far = api.sockets.at(-1);
    if (far === undefined) throw new Error("the API server saw no WebSocket");
    far.once("message", (data) => far.send(Buffer.concat([Buffer.from([1]), (data as Buffer).subarray(1)])));
    socket.send(Buffer.from("\0hello"));
    const [echoed] = (await once(socket, "message")) as [Buffer];
    expect(echoed.toString()).toBe("\u0001hello");
    far.close();
    await once(socket, "close");
  });

  it("end when the dashboard ends", async () => {
    const assets = dir;
    const other = await startDashboard({
      clock,
      log: silentLogger,
      port: 0,
      assets,
      upstream: async () => api.upstream,
    });
    const link = other.newLink();
    const cookie = String((await send(link)).headers["set-cookie"]?.[0]).split(";")[0] ?? "";
    const headers = { cookie, origin: new URL(link).origin };
    const base = link.replace(/\?.*/, "").replace("http", "ws");
    const shell = new WebSocket(`${base}proxy/api/v1/namespaces/a/pods/b/exec?command=sh`, { headers });
    const streams = new WebSocket(`${base}streams`, { headers });
    await Promise.all([once(shell, "open"), once(streams, "open")]);
    const closed = Promise.all([once(shell, "close"), once(streams, "close")]);
    await other.close();
    await closed;
  });

  it("of anything else are refused", async () => {
    const { base, cookie, origin } = await enter();
    const socket = new WebSocket(`${base.replace("http", "ws")}proxy/api/v1/namespaces/a/services/b/proxy/`, {
      headers: { cookie, origin },
    });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain("404");
  });
});
