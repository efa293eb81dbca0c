/** What passes between callers and an extension server: the whole way over TLS. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:http2";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { testTracer } from "../../tracing/testing/index.ts";
import { AGGREGATOR } from "./remote-user.ts";
import {
  type AggregatedServer,
  aggregatedServer,
  BASE,
  type ExtensionServer,
  FLUNDERS,
  flunder,
  type Seen,
} from "./testing/index.ts";

/** However busy the machine is. */
const eventually = <T>(read: () => T) => expect.poll(read, { interval: 20 });

let server: AggregatedServer;
let extension: ExtensionServer;

/** Of those that came from callers: the aggregator asks for documents on its own, whenever it likes. */
const last = (): Seen => {
  const found = extension.seen.findLast(({ all }) => !all("x-remote-user").includes(AGGREGATOR.name));
  if (found === undefined) throw new Error("nothing has come");
  return found;
};
const ready = async () => {
  await server.register(extension);
  await eventually(() => server.available()).toBe("True Passed");
};

describe.each([{ protocols: ["h2", "http/1.1"] as const }, { protocols: ["http/1.1"] as const }])(
  "an extension server that speaks $protocols",
  ({ protocols }) => {
    beforeEach(async () => {
      server = await aggregatedServer();
      extension = await server.extension({ protocols });
      await ready();
    });
    afterEach(() => server.close());

    it("is told who asks, by the front proxy", async () => {
      const { status, json, headers } = await server.ask("GET", `${FLUNDERS}/first?b=2&a=1`, {
        headers: { "x-remote-user": "forged", "x-remote-extra-forged": "yes", "x-own": "kept", te: "trailers" },
      });
      expect([status, json]).toEqual([200, flunder("first")]);
      const { url, version, byProxy, all } = last();
      expect({ url, byProxy, version }).toEqual({
        url: `${FLUNDERS}/first?b=2&a=1`,
        byProxy: true,
        version: protocols[0] === "h2" ? "2.0" : "1.1",
      });
      expect({
        user: all("x-remote-user"),
        uid: all("x-remote-uid"),
        groups: all("x-remote-group"),
        extra: all("x-remote-extra-acme.com%2Fr%C3%B4le".toLowerCase()).map((it) =>
          Buffer.from(it, "latin1").toString(),
        ),
        forged: all("x-remote-extra-forged"),
        own: all("x-own"),
        authorization: all("authorization"),
        te: all("te"),
      }).toEqual({
        user: ["root"],
        uid: ["u-1"],
        groups: ["system:masters", "system:authenticated"],
        extra: ["a", "ü"],
        forged: [],
        own: ["kept"],
        authorization: [],
        te: [],
      });
      // Its answer comes as it is, but for what a browser should not hear from it.
      expect(headers).toMatchObject({ "x-served-by": "wardle", "content-type": "application/json" });
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    });

    it("is asked only for what may be asked here", async () => {
      const before = extension.seen.length;
      const { status, json } = await server.ask("GET", FLUNDERS, { token: "jane" });
      expect([status, json.message]).toEqual([
        403,
        expect.stringContaining('User "jane" cannot list resource "flunders"'),
      ]);
      expect(extension.seen.slice(before).filter(({ url }) => url === FLUNDERS)).toEqual([]);
    });

    it("answers for its discovery, and with its own errors", async () => {
      expect((await server.ask("GET", BASE)).json).toMatchObject({ kind: "APIResourceList", resources: [{}, {}] });
      expect(await server.ask("GET", `${FLUNDERS}/missing`)).toMatchObject({
        status: 404,
        json: { reason: "NotFound" },
      });
    });

    it("gets bodies, and answers HEAD", async () => {
      const body = { kind: "Flunder", note: "x".repeat(300_000) };
      expect(await server.ask("POST", FLUNDERS, { body })).toMatchObject({ status: 201, json: body });
      expect(await server.ask("HEAD", `${FLUNDERS}/first`)).toMatchObject({ status: 200, text: "" });
    });

    it("streams both ways at once", async () => {
      const request = server.open("POST", `${FLUNDERS}/echo`);
      request.write("one");
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.setEncoding("utf8");
      expect(await once(response, "data")).toEqual(["one"]);
      request.write("two");
      expect(await once(response, "data")).toEqual(["two"]);
      request.end();
      await once(response, "end");
    });

    it("streams a watch, and sees its caller go", async () => {
      const request = server.open("GET", `${FLUNDERS}?watch=1`);
      request.on("error", () => {});
      request.end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.setEncoding("utf8").on("error", () => {});
      expect(JSON.parse((await once(response, "data"))[0])).toMatchObject({ type: "ADDED" });
      extension.emit({ type: "MODIFIED", object: {} });
      expect(JSON.parse((await once(response, "data"))[0])).toMatchObject({ type: "MODIFIED" });
      expect(extension.open).toBe(1);
      request.destroy();
      await eventually(() => extension.open).toBe(0);
    });

    it("passes on a connection that becomes another one", async () => {
      const headers = { connection: "Upgrade", upgrade: "echo/1", "x-remote-user": "forged" };
      const request = server.open("GET", `${FLUNDERS}/first/attach`, { headers });
      request.end();
      const [response, socket, head] = (await once(request, "upgrade")) as [IncomingMessage, Duplex, Buffer];
      expect(response).toMatchObject({ statusCode: 101, headers: { upgrade: "echo/1", connection: "Upgrade" } });
      expect(last().all("x-remote-user")).toEqual(["root"]);
      let got = head.toString();
      socket.setEncoding("utf8").on("data", (text: string) => (got += text));
      socket.write("world");
      await eventually(() => got).toBe("hello world");
      expect(extension.open).toBe(1);
      socket.destroy();
      await eventually(() => extension.open).toBe(0);
    });

    it("refuses to become another connection where one may not ask", async () => {
      const headers = { connection: "Upgrade", upgrade: "echo/1" };
      expect(await server.ask("GET", `${FLUNDERS}/first/attach`, { headers, token: "jane" })).toMatchObject({
        status: 403,
      });
      // And paths of this server answer as they always do.
      expect(await server.ask("GET", "/version", { headers })).toMatchObject({ status: 200, json: { major: "1" } });
    });

    it("may not send callers elsewhere", async () => {
      extension.state.mood = "redirects";
      expect(await server.ask("GET", FLUNDERS)).toMatchObject({
        status: 502,
        text: "the backend attempted to redirect this request, which is not permitted",
      });
    });

    it("that hangs is given up after a minute, and others do not notice", async () => {
      extension.state.mood = "hangs";
      // Jane has no more seats than everybody without a level of their own.
      const subjects = [{ kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" }];
      const roleRef = { kind: "ClusterRole", name: "cluster-admin", apiGroup: "rbac.authorization.k8s.io" };
      const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
      await server.ask("POST", bindings, { body: { metadata: { name: "jane" }, subjects, roleRef } });
      const asked = () => extension.seen.filter(({ url }) => url === FLUNDERS).length;
      const waiting = Array.from({ length: 50 }, () => server.ask("GET", FLUNDERS, { token: "jane" }));
      await eventually(asked).toBe(50);
      expect((await server.ask("GET", "/api/v1/namespaces", { token: "jane" })).status).toBe(200);
      await server.clock.advance(60_000);
      for (const answer of await Promise.all(waiting))
        expect(answer).toMatchObject({
          status: 504,
          json: { reason: "Timeout", message: "Timeout: request did not complete within the allotted timeout" },
        });
    });

    it("that goes away in the middle of an answer breaks that answer off", async () => {
      const request = server.open("GET", `${FLUNDERS}?watch=1`);
      request.end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      await once(response, "data");
      await extension.close();
      await expect(once(response, "end")).rejects.toThrow("aborted");
    });

    it("is reached again on a new connection after its restart", async () => {
      await server.ask("GET", FLUNDERS);
      const { port } = extension;
      await extension.close();
      expect(await server.ask("GET", FLUNDERS)).toMatchObject({
        status: 503,
        text: expect.stringMatching(/^error trying to reach service: dial tcp .*connect: connection refused\n$/),
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
      expect(port).toBeGreaterThan(0);
    });
  },
);

describe("the way to an extension server", () => {
  beforeEach(async () => {
    server = await aggregatedServer();
  });
  afterEach(() => server.close());

  it("is open to callers of HTTP/2", async () => {
    extension = await server.extension();
    await ready();
    const session = connect(`https://127.0.0.1:${server.server.port}`, { rejectUnauthorized: false });
    const stream = session.request({ ":method": "POST", ":path": FLUNDERS, authorization: "Bearer root" });
    stream.end('{"kind":"Flunder"}');
    const [headers] = await once(stream, "response");
    let text = "";
    for await (const chunk of stream) text += chunk;
    expect([headers[":status"], text]).toEqual([201, '{"kind":"Flunder"}']);
    session.close();
  });

  it("is open to components in this process", async () => {
    extension = await server.extension();
    await ready();
    const response = await server.server.handle({
      method: "POST",
      path: FLUNDERS,
      query: new URLSearchParams(),
      headers: { "content-type": "application/json" },
      body: async () => Buffer.from('{"kind":"Flunder"}'),
      signal: new AbortController().signal,
      user: { name: "system:controller", groups: ["system:masters"] },
    });
    expect(response.status).toBe(201);
    expect(last().all("x-remote-user")).toEqual(["system:controller"]);
  });

  const unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  it.each([
    {
      name: "a certificate of another authority",
      dnsNames: ["wardle.default.svc"],
      spec: { caBundle: "other" },
      want: unknown,
    },
    {
      name: "a certificate for another name",
      dnsNames: ["other.default.svc"],
      spec: {},
      want: "tls: failed to verify certificate: x509: certificate is valid for other.default.svc, not wardle.default.svc",
    },
    {
      name: "no authority that it knows",
      dnsNames: ["wardle.default.svc"],
      spec: { caBundle: undefined },
      want: unknown,
    },
  ])("ends at $name", async ({ dnsNames, spec, want }) => {
    extension = await server.extension({ dnsNames });
    const other = await server.extension();
    const caBundle = "caBundle" in spec && spec.caBundle === "other" ? other.caBundle : undefined;
    await server.register(extension, "caBundle" in spec ? { caBundle } : {});
    // Whether it is there is asked without looking at its certificate.
    await eventually(() => server.available()).toBe("True Passed");
    expect(await server.ask("GET", FLUNDERS)).toMatchObject({
      status: 503,
      text: `error trying to reach service: ${want}\n`,
    });
  });

  it("can be taken without a look at certificates", async () => {
    extension = await server.extension({ dnsNames: ["other.default.svc"] });
    await server.register(extension, { caBundle: undefined, insecureSkipTLSVerify: true });
    await eventually(() => server.available()).toBe("True Passed");
    expect((await server.ask("GET", FLUNDERS)).status).toBe(200);
  });

  it("says what is wrong with authorities that cannot be read", async () => {
    extension = await server.extension();
    await server.register(extension, { caBundle: Buffer.from("nothing").toString("base64") });
    await eventually(() => server.available()).toBe("True Passed");
    expect(await server.ask("GET", FLUNDERS)).toMatchObject({
      status: 500,
      text: "unable to load root certificates: unable to parse bytes as PEM block\n",
    });
  });
});

describe("redirects of an extension server", () => {
  afterEach(() => server.close());

  it("are passed on where that is allowed", async () => {
    server = await aggregatedServer(undefined, { passesRedirects: true });
    extension = await server.extension({ protocols: ["http/1.1"] });
    await ready();
    extension.state.mood = "redirects";
    const { status, headers } = await server.ask("GET", FLUNDERS);
    expect([Math.floor(status / 100), typeof headers.location]).toEqual([3, "string"]);
  });
});

it("a traced request goes on in the extension server", async () => {
  const { tracer, spans } = testTracer(realClock(), { samples: false });
  server = await aggregatedServer(undefined, undefined, tracer);
  try {
    extension = await server.extension();
    await ready();
    const traceId = "a".repeat(32);
    await server.ask("GET", FLUNDERS, { headers: { traceparent: `00-${traceId}-${"b".repeat(16)}-01` } });
    const call = spans.find(({ name }) => name === "HTTP GET");
    expect(call).toMatchObject({ traceId, kind: 3 });
    expect(last().headers.traceparent).toBe(`00-${traceId}-${call?.spanId}-01`);
    expect(spans.find(({ spanId }) => spanId === call?.parentSpanId)?.name).toBe(
      "GET /apis/wardle.example.com/v1alpha1/namespaces/{:namespace}/flunders",
    );
  } finally {
    await server.close();
  }
});
