import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { realClock, seededRandom, settled, silentLogger, VirtualClock } from "#base";
import { answer, asking, user } from "../testing/questions.ts";
import { PostError, poster } from "./post.ts";
import { type WebhookOptions, webhookAuthorizer } from "./webhook.ts";

const ann = user("ann", "dev");
const pods = asking(ann, "GET /api/v1/namespaces/ns/pods");

/** Answers with what the test says, and remembers what it was asked. */
function asked(status: (body: JsonObject) => object | Promise<object>, options: Partial<WebhookOptions> = {}) {
  const bodies: JsonObject[] = [];
  const clock = new VirtualClock();
  const mode = webhookAuthorizer({
    name: "hook",
    version: "v1",
    authorizedTtlMs: 60_000,
    unauthorizedTtlMs: 10_000,
    onFailure: "noOpinion",
    poster: {
      retire: () => {},
      close: () => {},
      post: async (body) => {
        bodies.push(body);
        return { status: (await status(body)) as JsonObject };
      },
    },
    signal: new AbortController().signal,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    ...options,
  });
  return { mode, bodies, clock };
}

describe("what a webhook says", () => {
  it.each([
    [{ allowed: true }, "allow"],
    [{ allowed: true, reason: "fine" }, "allow: fine"],
    [{ allowed: false }, "noOpinion"],
    [{}, "noOpinion"],
    [{ allowed: false, reason: "hm" }, "noOpinion: hm"],
    [{ denied: true, reason: "never" }, "deny: never"],
    [{ allowed: true, denied: true }, "deny: webhook subject access review returned both allow and deny response"],
    [{ allowed: "true" }, "noOpinion"],
  ])("%j: %s", async (status, want) => {
    expect(await answer(asked(() => status).mode.authorize, pods)).toBe(want);
  });
});

describe("what a webhook is asked", () => {
  const question = async (attributes = pods, options: Partial<WebhookOptions> = {}) => {
    const { mode, bodies } = asked(() => ({ allowed: true }), options);
    await mode.authorize(attributes);
    return bodies[0];
  };

  it("is a review of the request", async () => {
    const who = { name: "ann", uid: "1", groups: ["dev"], extra: { scope: ["a"] } };
    const request =
      "GET /apis/apps/v1/namespaces/ns/deployments?labelSelector=a+in+(x,y),!b&fieldSelector=metadata.name%3Dd";
    expect(await question(asking(who, request))).toEqual({
      kind: "SubjectAccessReview",
      apiVersion: "authorization.k8s.io/v1",
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: "ns",
          verb: "list",
          group: "apps",
          version: "v1",
          resource: "deployments",
          name: "d",
          fieldSelector: { requirements: [{ key: "metadata.name", operator: "In", values: ["d"] }] },
          labelSelector: {
            requirements: [
              { key: "a", operator: "In", values: ["x", "y"] },
              { key: "b", operator: "DoesNotExist" },
            ],
          },
        },
        user: "ann",
        groups: ["dev"],
        extra: { scope: ["a"] },
        uid: "1",
      },
      status: { allowed: false },
    });
  });

  it("may be a path, and the older version", async () => {
    expect(await question(asking(ann, "GET /metrics"), { version: "v1beta1" })).toMatchObject({
      apiVersion: "authorization.k8s.io/v1beta1",
      spec: { nonResourceAttributes: { path: "/metrics", verb: "get" }, group: ["dev", "system:authenticated"] },
    });
  });
});

describe("answers are kept", () => {
  it.each([
    { allowed: true, keptMs: 60_000 },
    { allowed: false, keptMs: 10_000 },
  ])("allowed $allowed for $keptMs ms", async ({ allowed, keptMs }) => {
    const { mode, bodies, clock } = asked(() => ({ allowed }));
    await mode.authorize(pods);
    await clock.advance(keptMs - 1);
    expect(mode.authorize(pods)).not.toBeInstanceOf(Promise);
    await clock.advance(1);
    await mode.authorize(pods);
    expect(bodies.length).toBe(2);
  });

  it("for the same question only, and asks once for many at a time", async () => {
    const { mode, bodies } = asked(() => ({ allowed: true }));
    await Promise.all([mode.authorize(pods), mode.authorize(pods)]);
    expect(bodies.length).toBe(1);
    await mode.authorize(asking(user("bob"), "GET /api/v1/namespaces/ns/pods"));
    await mode.authorize(asking(ann, "GET /api/v1/namespaces/NS/pods"));
    expect(bodies.length).toBe(3);
  });

  it("unless they are too large, or not to be kept", async () => {
    const { mode, bodies } = asked(() => ({ allowed: true }));
    const long = asking(ann, `GET /api/v1/namespaces/ns/pods/${"x".repeat(10_000)}`);
    for (let i = 0; i < 2; i++) await mode.authorize(long);
    expect(bodies.length).toBe(2);
    const never = asked(() => ({ allowed: true }), { authorizedTtlMs: 0 });
    for (let i = 0; i < 2; i++) await never.mode.authorize(pods);
    expect(never.bodies.length).toBe(2);
  });
});

describe("a webhook that fails", () => {
  it.each([
    { onFailure: "noOpinion" as const, want: "noOpinion: out of reach" },
    { onFailure: "deny" as const, want: "deny: out of reach" },
  ])("counts as $onFailure, and nothing is kept", async ({ onFailure, want }) => {
    let fails = true;
    const { mode } = asked(
      () => {
        if (fails) throw new PostError("out of reach", false);
        return { allowed: true };
      },
      { onFailure },
    );
    expect(await answer(mode.authorize, pods)).toBe(want);
    fails = false;
    expect(await answer(mode.authorize, pods)).toBe("allow");
  });

  it("is asked again while its fault may pass", async () => {
    const { mode, bodies, clock } = asked(() => {
      if (bodies.length < 3) throw new PostError("busy", true);
      return { allowed: true };
    });
    const verdict = answer(mode.authorize, pods);
    await settled();
    expect(bodies.length).toBe(1);
    await clock.advance(60_000);
    expect([await verdict, bodies.length]).toEqual(["allow", 3]);
  });

  it("is given up after some tries, or when the server stops", async () => {
    const { mode, bodies, clock } = asked(() => {
      throw new PostError("busy", true);
    });
    const verdict = answer(mode.authorize, pods);
    await clock.advance(60_000);
    expect([await verdict, bodies.length]).toEqual(["noOpinion: busy", 5]);

    const stopping = new AbortController();
    const other = asked(
      () => {
        throw new PostError("busy", true);
      },
      { signal: stopping.signal },
    );
    const waiting = answer(other.mode.authorize, pods);
    await settled();
    stopping.abort(new Error("stopping"));
    expect([await waiting, other.bodies.length]).toEqual(["noOpinion: stopping", 1]);
  });
});

describe("match conditions", () => {
  const fails = () => {
    throw new Error("no such field");
  };
  it.each([
    { conditions: [() => true, () => true], want: "allow", calls: 1 },
    { conditions: [() => true, () => false], want: "noOpinion", calls: 0 },
    { conditions: [fails, () => false], want: "noOpinion", calls: 0 },
    { conditions: [fails, () => true], want: "deny: no such field", calls: 0 },
  ])("say whether it is asked: $want", async ({ conditions, want, calls }) => {
    const { mode, bodies } = asked(() => ({ allowed: true }), { onFailure: "deny", matchConditions: conditions });
    expect([await answer(mode.authorize, pods), bodies.length]).toEqual([want, calls]);
  });
});

describe("over HTTP", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function started(status: number, body: string, headers: Record<string, string> = {}, silent = false) {
    const seen: { authorization: string | undefined; url: string | undefined; body: string }[] = [];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        seen.push({
          authorization: request.headers.authorization,
          url: request.url,
          body: Buffer.concat(chunks).toString(),
        });
        if (!silent) response.writeHead(status, headers).end(body);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const connection = {
      context: "c",
      server: `http://127.0.0.1:${port}/authorize?x=1`,
      namespace: undefined,
      caPem: undefined,
      client: { token: "secret" },
      tlsServerName: undefined,
      insecureSkipTlsVerify: false,
    };
    return { connection, seen };
  }

  it("sends to exactly the address of the kubeconfig, as its user", async () => {
    const { connection, seen } = await started(200, '{"status":{"allowed":true}}');
    const { post, close } = poster(connection, 10_000, realClock());
    expect(await post({ a: 1 })).toEqual({ status: { allowed: true } });
    expect(seen).toEqual([{ authorization: "Bearer secret", url: "/authorize?x=1", body: '{"a":1}' }]);
    close();
  });

  it.each([
    { status: 404, body: "", passing: false, message: "the server answered with HTTP status 404" },
    { status: 500, body: "", passing: true, message: "the server answered with HTTP status 500" },
    { status: 429, body: "", passing: true, message: "the server answered with HTTP status 429" },
    { status: 503, body: "", passing: true, headers: { "retry-after": "1" }, message: "HTTP status 503" },
    { status: 503, body: "", passing: false, message: "HTTP status 503" },
    { status: 200, body: "<html>", passing: false, message: "not JSON" },
    { status: 200, body: "[]", passing: false, message: "no object" },
    { status: 200, body: `"${"x".repeat(2_000_000)}"`, passing: false, message: "too large" },
  ])("$status $message", async ({ status, body, passing, message, headers = {} }) => {
    const { connection } = await started(status, body, headers as Record<string, string>);
    const { post, close } = poster(connection, 10_000, realClock());
    await expect(post({})).rejects.toMatchObject({
      name: "PostError",
      passing,
      message: expect.stringContaining(message),
    });
    close();
  });

  it("waits no longer than it should", async () => {
    const { connection, seen } = await started(200, "", {}, true);
    const clock = new VirtualClock();
    const { post, close } = poster(connection, 3_000, clock);
    const failed = expect(post({})).rejects.toMatchObject({ passing: false, message: "the request timed out" });
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(3_000);
    await failed;
    close();
  });

  it("tells that nobody is there", async () => {
    const { connection } = await started(200, "{}");
    server?.close();
    await once(server as Server, "close");
    const { post, close } = poster(connection, 10_000, realClock());
    await expect(post({})).rejects.toMatchObject({
      name: "PostError",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    close();
  });
});
