import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { nextTurn } from "#base";
import type { Admission } from "../rest/server-context.ts";
import type { TestServer, TestServerOptions } from "../testing/index.ts";
import type { HeavyOptions } from "./heavy-writes.ts";
import { serverWithConnectors } from "./testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const THREAD = new URL("./thread.ts", import.meta.url);
const LONG_KEYS = 20_000;

/** Its keys come in no order, which is the dearest way. */
function configMap(name: string, keys: number, value = "v") {
  const data = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${(at * 7919) % 1_000_003}`, value]));
  return { metadata: { name }, data };
}

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Two megabytes of YAML around a small object. */
function largeYaml(object: string): string {
  return object + Array.from({ length: 130_000 }, (_, at) => `k${(at * 7919) % 1_000_003}: value\n`).join("");
}

const nothing: Admission = { mutate: () => {}, validate: () => {} };

/** One thread for most tests: starting it takes longer than they do. */
let server: TestServer;
let admission = nothing;

beforeAll(async () => {
  server = await serverWithConnectors({
    heavy: { allowPrivileged: true, largeBytes: 1000 },
    admission: {
      mutate: (attributes) => admission.mutate(attributes),
      validate: (attributes) => admission.validate(attributes),
    },
  });
});

afterEach(() => {
  admission = nothing;
});

afterAll(() => server.close());

function serverWith(startThread: HeavyOptions["startThread"], options: TestServerOptions = {}): Promise<TestServer> {
  return serverWithConnectors({ heavy: { allowPrivileged: true, largeBytes: 1000, startThread }, ...options });
}

/** How often another request was answered until this one was. */
async function answeredMeanwhile(request: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = request.finally(() => {
    isOver = true;
  });
  let answered = 0;
  for (; !isOver; answered++) {
    expect((await server.request("GET", "/version")).status).toBe(200);
    await nextTurn();
  }
  await over;
  return answered;
}

/** A thread that answers nothing, so that what it has begun goes on until it ends. */
function silentThread(started: Worker[]): () => Worker {
  return () => {
    const thread = new Worker('require("node:worker_threads").parentPort.on("message", () => {})', { eval: true });
    started.push(thread);
    return thread;
  };
}

describe("while a large request runs", () => {
  it.each([
    ["POST", CONFIG_MAPS, "application/json", configMap("new", LONG_KEYS)],
    ["PUT", `${CONFIG_MAPS}/old`, "application/json", configMap("old", LONG_KEYS, "w")],
    ["PATCH", `${CONFIG_MAPS}/old`, "application/merge-patch+json", { data: configMap("", LONG_KEYS, "x").data }],
    [
      "PATCH",
      `${CONFIG_MAPS}/old?fieldManager=one&force=true`,
      "application/apply-patch+yaml",
      { apiVersion: "v1", kind: "ConfigMap", ...configMap("old", LONG_KEYS, "y") },
    ],
  ])("others are answered: %s %s %s", async (method, path, type, body) => {
    await server.request("POST", CONFIG_MAPS, { body: configMap("old", LONG_KEYS) });
    const sent = Buffer.from(JSON.stringify(body));
    const send = () => server.request(method, path, { body: sent, headers: { "content-type": type } });
    let status = 0;
    const answered = await answeredMeanwhile(
      send().then((answer) => {
        status = answer.status;
      }),
    );
    expect(status).toBe(method === "POST" ? 201 : 200);
    // The plain way answers one at most: the whole request is a single turn.
    expect(answered).toBeGreaterThan(10);
  });
});

describe("while a large body is decoded", () => {
  it.each([
    [
      "POST",
      REVIEWS,
      "apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nspec: {resourceAttributes: {verb: get}}\n",
      201,
    ],
    ["DELETE", `${CONFIG_MAPS}/kept?dryRun=All`, "apiVersion: v1\nkind: DeleteOptions\n", 200],
  ])("others are answered: %s %s", async (method, path, object, expected) => {
    await server.request("POST", CONFIG_MAPS, { body: { metadata: { name: "kept" } } });
    const body = Buffer.from(largeYaml(object));
    expect(body.length).toBeGreaterThan(1_800_000);
    let status = 0;
    const answered = await answeredMeanwhile(
      server.request(method, path, { body, headers: { "content-type": "application/yaml" } }).then((answer) => {
        status = answer.status;
      }),
    );
    expect(status).toBe(expected);
    expect(answered).toBeGreaterThan(10);
  });
});

describe("what waits", () => {
  it("counts large bodies that are to be decoded, and they end with the thread", async () => {
    const started: Worker[] = [];
    const server = await serverWith(silentThread(started));
    const send = (path: string) =>
      server.request(path === REVIEWS ? "POST" : "DELETE", path, {
        body: " ".repeat(1000),
        user: { name: "one", groups: ["system:masters"] },
      });
    const first = Array.from({ length: 8 }, (_, at) => send(at % 2 === 0 ? REVIEWS : `${CONFIG_MAPS}/a`));
    for (const path of [REVIEWS, `${CONFIG_MAPS}/a`]) expect((await send(path)).status).toBe(429);
    await started[0]?.terminate();
    // Two had begun; the others wait for the next thread.
    expect(await Promise.all(first.slice(0, 2).map(async (answer) => (await answer).status))).toEqual([503, 503]);
    await server.close();
    expect((await Promise.all(first.slice(2))).map(({ status }) => status)).toEqual(Array(6).fill(503));
  });

  it("is bounded for each user", async () => {
    const started: Worker[] = [];
    const server = await serverWith(silentThread(started));
    const send = (name: string, user: string) =>
      server.request("POST", CONFIG_MAPS, {
        body: configMap(name, 100),
        user: { name: user, groups: ["system:masters"] },
      });
    const first = Array.from({ length: 8 }, (_, at) => send(`a${at}`, "one"));
    const refused = await send("b", "one");
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    expect(refused.json.reason).toBe("TooManyRequests");
    const other = send("c", "two");
    await nextTurn();
    // What is small is answered.
    expect((await server.request("POST", CONFIG_MAPS, { body: { metadata: { name: "small" } } })).status).toBe(201);
    await server.close();
    for (const answer of await Promise.all([...first, other])) expect(answer.status).toBe(503);
  });
});

describe("a thread that ends", () => {
  it("fails what it has begun, and the next request starts another", async () => {
    const started: Worker[] = [];
    let isSilent = true;
    const silent = silentThread(started);
    await using own = new AsyncDisposableStack();
    const server = await serverWith((workerData) => (isSilent ? silent() : new Worker(THREAD, { workerData })));
    own.defer(() => server.close());
    const begun = server.request("POST", CONFIG_MAPS, { body: configMap("a", 100) });
    await nextTurn();
    isSilent = false;
    expect(started).toHaveLength(1);
    await started[0]?.terminate();
    const answer = await begun;
    expect(answer.status).toBe(503);
    expect(answer.json.message).toContain("the thread of this request has ended");
    expect((await server.request("GET", `${CONFIG_MAPS}/a`)).status).toBe(404);
    expect((await server.request("POST", CONFIG_MAPS, { body: configMap("a", 100) })).status).toBe(201);
  });

  it("ends one that does not come back", async () => {
    const started: Worker[] = [];
    await using own = new AsyncDisposableStack();
    const server = await serverWith(silentThread(started), { requests: { timeoutMs: 600_000 } });
    own.defer(() => server.close());
    const begun = server.request("POST", CONFIG_MAPS, { body: configMap("a", 100) });
    await server.settle();
    await server.clock.advance(60_000);
    expect((await begun).status).toBe(504);
    const ended = Promise.withResolvers<void>();
    started[0]?.once("exit", () => ended.resolve());
    await ended.promise;
  });
});

describe("what the serving thread is asked", () => {
  it("admission sees the whole object, may change it, and annotates and warns as ever", async () => {
    const seen: unknown[] = [];
    admission = {
      mutate: ({ object, warn }) => {
        const fields = object as unknown as { data: Record<string, string> };
        seen.push(Object.keys(fields.data).length);
        warn("changed");
        fields.data.added = "by admission";
      },
      validate: ({ object, old }) => {
        seen.push((object as unknown as { data: Record<string, string> }).data.added, old?.metadata.name);
      },
    };
    const created = await server.request("POST", CONFIG_MAPS, { body: configMap("seen", LONG_KEYS) });
    expect(created.status).toBe(201);
    expect(created.headers.warning).toEqual(['299 - "changed"']);
    const updated = await server.request("PUT", `${CONFIG_MAPS}/seen`, { body: configMap("seen", 1000) });
    expect((updated.json.data as Record<string, string>).added).toBe("by admission");
    expect(seen).toEqual([LONG_KEYS, "by admission", undefined, 1000, "by admission", "seen"]);
  });

  it("another writer that was first is found, and the write runs again", async () => {
    let isFirst = true;
    const path = `${CONFIG_MAPS}/contended`;
    const headers = { "content-type": "application/merge-patch+json" };
    admission = {
      ...nothing,
      mutate: ({ operation, name }) => {
        if (operation !== "UPDATE" || name !== "contended" || !isFirst) return;
        isFirst = false;
        const body = { metadata: { labels: { other: "writer" } } };
        return server.request("PATCH", path, { body, headers }).then(() => {});
      },
    };
    const created = await server.request("POST", CONFIG_MAPS, { body: configMap("contended", 100) });
    const { status, metadata } = await server.request("PATCH", path, {
      body: { data: configMap("", 200).data },
      headers,
    });
    expect({ status, labels: metadata.labels }).toEqual({ status: 200, labels: { other: "writer" } });
    expect(Number(metadata.resourceVersion)).toBe(Number(created.metadata.resourceVersion) + 2);
  });

  it("refusals come back as they are", async () => {
    await server.request("POST", CONFIG_MAPS, { body: configMap("twice", 100) });
    const again = await server.request("POST", CONFIG_MAPS, { body: configMap("twice", 100) });
    expect(again.json).toMatchObject({
      code: 409,
      reason: "AlreadyExists",
      details: { name: "twice", kind: "configmaps" },
    });
    const dry = await server.request("POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("twice", 100) });
    expect(dry.json).toMatchObject({ code: 409, reason: "AlreadyExists" });
  });

  it("watchers see the object, and a read sees the write", async () => {
    const watch = await server.watch(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name=watched`);
    await server.request("POST", CONFIG_MAPS, { body: configMap("watched", LONG_KEYS) });
    expect(await watch.seen()).toEqual(["ADDED watched"]);
    const [event] = watch.events;
    const read = await server.request("GET", `${CONFIG_MAPS}/watched`);
    expect(JSON.stringify(event?.object) === JSON.stringify(read.json)).toBe(true);
  });
});
