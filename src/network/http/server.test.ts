/** The ingress on real sockets of loopback. */
import { once } from "node:events";
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as secureRequest } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { core } from "#api";
import { nextTurn, realClock } from "#base";
import { type Authority, createAuthority, type KeyPair } from "#pki";
import { ingressOf, Site, type SiteOptions } from "./testing/site.ts";

let authority: Authority;
let standard: KeyPair;
let site: Site;

beforeAll(async () => {
  authority = await createAuthority({ commonName: "test", clock: realClock() });
  standard = await issue("default.example");
});
afterEach(() => site[Symbol.asyncDispose]());

const issue = (name: string) => authority.issue({ commonName: name, dnsNames: [name], usages: ["server"] });
const start = (options: SiteOptions = {}) => {
  site = new Site({ certificate: standard, ...options });
  return site.start();
};
/** Says who it is and how it was asked. */
const named = (name: string) => site.endpoint((asked, answer) => answer.end(`${name} ${asked.method} ${asked.url}`));

interface Told {
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

async function get(port: number, host: string, path = "/", more: RequestOptions = {}, body?: string): Promise<Told> {
  const sent = request({ host: "127.0.0.1", port, path, headers: { host }, ...more });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer), headers: answer.headers };
}

async function getSecure(port: number, servername: string): Promise<{ body: string; shown: string }> {
  const sent = secureRequest({
    ...{ host: "127.0.0.1", port, path: "/", servername, ca: authority.certPem, agent: false },
    headers: { host: servername },
    checkServerIdentity: () => undefined,
  });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const { subject } = (answer.socket as import("node:tls").TLSSocket).getPeerCertificate();
  return { body: await text(answer), shown: String(subject.CN) };
}

function secret(name: string, { certPem, keyPem }: KeyPair, version = "1"): core.Secret {
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  return {
    metadata: { name, namespace: "default", uid: name, resourceVersion: version },
    type: "kubernetes.io/tls",
    data: { "tls.crt": base64(certPem), "tls.key": base64(keyPem) },
  };
}

describe("requests", () => {
  it("go to the host and path that they name", async () => {
    const { http } = await start();
    site.put("a", await named("a"));
    site.put("b", await named("b"));
    site.put("empty");
    site.route(ingressOf("i", ["a.org", "/", "a"], ["b.org", "/x", "b"], ["b.org", "/empty", "empty"]));
    expect((await get(http, "a.org", "/y?z=1")).body).toBe("a GET /y?z=1");
    expect((await get(http, "b.org", "/x/y")).body).toBe("b GET /x/y");
    expect((await get(http, "b.org", "/a/../x/%2e./x")).body).toBe("b GET /x");
    expect((await get(http, "b.org", "/y")).status).toBe(404);
    expect((await get(http, "b.org", "/empty")).status).toBe(503);
    expect((await get(http, "c.org")).status).toBe(404);
  });

  it("take their turns over endpoints, on connections that are kept", async () => {
    const { http } = await start();
    const sockets = new Map<string, Set<unknown>>();
    const counting = (name: string) =>
      site.endpoint((asked, answer) => {
        sockets.set(name, (sockets.get(name) ?? new Set()).add(asked.socket));
        answer.end(name);
      });
    site.put("a", await counting("one"), await counting("two"));
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const bodies: string[] = [];
    for (let turn = 0; turn < 10; turn++) bodies.push((await get(http, "a.org")).body);
    expect(bodies.filter((body) => body === "one")).toHaveLength(5);
    expect([...sockets.values()].map(({ size }) => size)).toEqual([1, 1]);
  });

  it("go to the next endpoint where one cannot be reached, with their bodies", async () => {
    const { http } = await start();
    const closed = await named("closed");
    await site.end(closed);
    const echo = await site.endpoint((asked, answer) => void asked.pipe(answer));
    site.put("a", closed, echo);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    for (let turn = 0; turn < 4; turn++)
      expect(await get(http, "a.org", "/", { method: "POST" }, "hello")).toMatchObject({ status: 200, body: "hello" });
    site.put("a", closed);
    expect((await get(http, "a.org")).status).toBe(503);
  });

  it("are repeated where a kept connection has ended, unless they may have been carried out", async () => {
    const { http } = await start();
    let asked = 0;
    // Every second request on a connection finds it closed.
    const port = await site.endpoint((_, answer) => {
      asked += 1;
      const { socket } = answer;
      if (asked % 2 === 0) socket?.destroy();
      else answer.end("ok");
    });
    site.put("a", port);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    expect((await get(http, "a.org")).status).toBe(200);
    // Once on the kept connection, in vain, then on a new one.
    expect((await get(http, "a.org")).status).toBe(200);
    expect(asked).toBe(3);
    asked = 1;
    expect((await get(http, "a.org", "/", { method: "POST" }, "x")).status).toBe(502);
    expect(asked).toBe(2);
  });

  it("say where they come from, and are not believed in what they claim", async () => {
    const { http } = await start();
    site.put("a", await site.endpoint((asked, answer) => answer.end(JSON.stringify(asked.headers))));
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const { body } = await get(http, "a.org", "/", {
      headers: { host: "a.org:81", "x-forwarded-for": "1.2.3.4", connection: "close" },
    });
    expect(JSON.parse(body)).toMatchObject({
      host: "a.org:81",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-port": String(http),
      via: "1.1 k8ts-ingress",
    });
  });

  it("stream both ways while they last", async () => {
    const { http } = await start();
    site.put("a", await site.endpoint((asked, answer) => void asked.pipe(answer)));
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const sent = request({ host: "127.0.0.1", port: http, method: "POST", headers: { host: "a.org" } });
    sent.write("one");
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(String((await once(answer, "data"))[0])).toBe("one");
    sent.write("two");
    expect(String((await once(answer, "data"))[0])).toBe("two");
    sent.end();
    await once(answer.resume(), "end");
  });

  it("hear of an answer before its body is there", async () => {
    const { http } = await start();
    const finish = Promise.withResolvers<void>();
    const port = await site.endpoint((_, answer) => {
      answer.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      void finish.promise.then(() => answer.end("event"));
    });
    site.put("a", port);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const sent = request({ host: "127.0.0.1", port: http, headers: { host: "a.org" } });
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    finish.resolve();
    expect(await text(answer)).toBe("event");
  });

  it("that are too large, too late, cut off or circular fail as such", async () => {
    const { http } = await start({ maxBodyBytes: 10, answerMs: 50 });
    site.put("echo", await site.endpoint((asked, answer) => void asked.pipe(answer)));
    site.put("silent", await site.endpoint(() => {}));
    site.put("half", await site.endpoint((_, answer) => void answer.write("half", () => answer.socket?.destroy())));
    site.route(ingressOf("i", ["a.org", "/", "echo"], ["a.org", "/silent", "silent"], ["a.org", "/half", "half"]));
    const post = (more: RequestOptions) => get(http, "a.org", "/", { method: "POST", ...more }, "x".repeat(11));
    expect((await post({})).status).toBe(413);
    expect((await get(http, "a.org", "/", { method: "POST" }, "x".repeat(10))).body).toHaveLength(10);
    expect((await get(http, "a.org", "/silent")).status).toBe(504);
    await expect(get(http, "a.org", "/half")).rejects.toThrow("aborted");
    const via = Array(5).fill("1.1 k8ts-ingress").join(", ");
    expect((await get(http, "a.org", "/", { headers: { host: "a.org", via } })).status).toBe(508);
    const socket = connect(http, "127.0.0.1");
    socket.end("GET / HTTP/1.1\r\nhost: a.org\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
    expect(await text(socket)).toContain("400 Bad Request");
  });

  it("that stop in the middle are not waited for", async () => {
    const { http } = await start({ bodyIdleMs: 50 });
    site.put("a", await site.endpoint((asked) => void asked.resume()));
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const sent = request({ host: "127.0.0.1", port: http, method: "POST", headers: { host: "a.org" } });
    sent.on("error", () => {});
    sent.write("half");
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(408);
    sent.destroy();
  });

  it("that offer HTTP/2 in the clear go on as they began", async () => {
    const { http } = await start();
    site.put("a", await site.endpoint((asked, answer) => void asked.pipe(answer)));
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const headers = {
      host: "a.org",
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "http2-settings": "AAMAAABk",
    };
    expect(await get(http, "a.org", "/", { method: "POST", headers }, "hello")).toMatchObject({
      status: 200,
      body: "hello",
    });
  });

  it("of a client that leaves end at the endpoint, too", async () => {
    const { http } = await start();
    const ended = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const port = await site.endpoint((_, answer) => {
      begun.resolve();
      answer.once("close", () => ended.resolve());
    });
    site.put("a", port);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const sent = request({ host: "127.0.0.1", port: http, headers: { host: "a.org" } });
    sent.on("error", () => {});
    sent.end();
    await begun.promise;
    sent.destroy();
    await ended.promise;
    await expect.poll(() => site.metrics.text()).toContain('status="499"');
  });
});

describe("TLS", () => {
  it("shows each host its certificate, and a new one as soon as there is one", async () => {
    const { https } = await start();
    site.put("a", await named("a"));
    const ingress = {
      ...ingressOf("i", ["a.org", "/", "a"], ["x.wild.org", "/", "a"], ["bad.org", "/", "a"], ["none.org", "/", "a"]),
    };
    const tls = [
      { hosts: ["a.org"], secretName: "a" },
      { hosts: ["*.wild.org"], secretName: "wild" },
      { hosts: ["bad.org"], secretName: "bad" },
    ];
    site.route(ingress);
    const secrets = new Map([
      ["default/a", secret("a", await issue("a.org"))],
      ["default/wild", secret("wild", await issue("*.wild.org"))],
      ["default/bad", secret("bad", { certPem: "nonsense", keyPem: "nonsense" })],
    ]);
    const given = [{ ...ingress, spec: { ...ingress.spec, tls } }];
    const problems = site.certificates.update(given, (key) => secrets.get(key));
    expect(problems).toMatchObject([{ ingress: "default/i", reason: "BadCertificate" }]);
    const shown = async (host: string) => (await getSecure(https, host)).shown;
    expect(await getSecure(https, "a.org")).toEqual({ body: "a GET /", shown: "a.org" });
    expect(await shown("x.wild.org")).toBe("*.wild.org");
    expect(await shown("bad.org")).toBe("default.example");
    expect(await shown("none.org")).toBe("default.example");
    secrets.set("default/a", secret("a", await issue("renewed.org"), "2"));
    site.certificates.update(given, (key) => secrets.get(key));
    expect(await shown("a.org")).toBe("renewed.org");
  });

  it("speaks HTTP/2 with clients that do", async () => {
    const { https } = await start();
    site.put(
      "a",
      await site.endpoint((asked, answer) => {
        answer.setHeader("connection", "keep-alive");
        answer.setHeader("x-host", asked.headers.host ?? "");
        asked.pipe(answer);
      }),
    );
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const session = connectHttp2(`https://127.0.0.1:${https}`, {
      ...{ servername: "a.org", ca: authority.certPem },
      checkServerIdentity: () => undefined,
    });
    try {
      const ask = async (method: string, body?: string) => {
        const stream = session.request(
          { ":method": method, ":authority": "a.org", ":path": "/" },
          { endStream: body === undefined },
        );
        if (body !== undefined) stream.end(body);
        const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
        return [headers[":status"], headers["x-host"], await text(stream)];
      };
      expect(await Promise.all([ask("POST", "hello"), ask("GET"), ask("HEAD")])).toEqual([
        [200, "a.org", "hello"],
        [200, "a.org", ""],
        [200, "a.org", ""],
      ]);
    } finally {
      session.close();
      await once(session, "close");
    }
  });
});

describe("WebSockets", () => {
  it.each(["ws", "wss"] as const)("pass over %s, and go to the next endpoint where one is gone", async (scheme) => {
    const { http, https } = await start();
    const closed = await named("closed");
    await site.end(closed);
    const echo = await site.endpoint(
      (_, answer) => answer.end(),
      (server) => {
        new WebSocketServer({ server }).on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
      },
    );
    site.put("a", closed, echo);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    for (let turn = 0; turn < 2; turn++) {
      const client = new WebSocket(`${scheme}://127.0.0.1:${scheme === "ws" ? http : https}/`, {
        headers: { host: "a.org" },
        rejectUnauthorized: false,
      });
      await once(client, "open");
      client.send("hello");
      expect(String((await once(client, "message"))[0])).toBe("hello");
      client.close();
      await once(client, "close");
    }
  });

  it("are refused as the endpoint refuses them, or where there is none", async () => {
    const { http } = await start();
    const port = await site.endpoint((_, answer) => answer.end());
    site.put("a", port);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const refused = async (host: string) => {
      const client = new WebSocket(`ws://127.0.0.1:${http}/`, { headers: { host } });
      const [error] = (await once(client, "error")) as [Error];
      return error.message;
    };
    expect(await refused("a.org")).toBe("Unexpected server response: 200");
    expect(await refused("b.org")).toBe("Unexpected server response: 404");
  });
});

describe("changes under load", () => {
  it("of routes, certificates and endpoints fail no request", async () => {
    const { http } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    let left = 400;
    const statuses: Record<string, number> = {};
    const client = async () => {
      while (left-- > 0) {
        const method = left % 3 === 0 ? "POST" : "GET";
        const host = left % 2 === 0 ? "a.org" : "b.org";
        const said = await get(http, host, "/", { agent, method }, method === "POST" ? "x" : undefined).then(
          ({ status }) => String(status),
          (error: Error) => error.message,
        );
        statuses[said] = (statuses[said] ?? 0) + 1;
      }
    };
    let ports = [await named("1"), await named("2")];
    site.put("a", ...ports);
    site.route(ingressOf("i", ["a.org", "/", "a"], ["b.org", "/", "a"]));
    const clients = Promise.all(Array.from({ length: 8 }, client));
    // A rolling update: the new endpoint first, then the end of the old one.
    for (let turn = 0; left > 0; turn++) {
      const [old = 0, kept = 0] = ports;
      ports = [kept, await named(String(turn))];
      site.put("a", ...ports);
      site.route(ingressOf("i", ["a.org", "/", "a"], ["b.org", "/", "a"], [`x${turn}.org`, "/", "a"]));
      // It serves on for a while, as a Pod does that ends with grace.
      for (const before = left; left > Math.max(0, before - 20); ) await nextTurn();
      await site.end(old);
    }
    await clients;
    agent.destroy();
    expect(statuses).toEqual({ 200: 400 });
  });

  it("to an end let what is under way end first", async () => {
    const { http } = await start();
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const port = await site.endpoint((_, answer) => {
      begun.resolve();
      void finish.promise.then(() => answer.end("whole"));
    });
    site.put("a", port);
    site.route(ingressOf("i", ["a.org", "/", "a"]));
    const answer = get(http, "a.org");
    await begun.promise;
    const stopped = site.stop(10_000);
    await expect(get(http, "a.org")).rejects.toThrow("ECONNREFUSED");
    finish.resolve();
    expect(await answer).toMatchObject({ status: 200, body: "whole", headers: { connection: "close" } });
    await stopped;
  });
});
