import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeEnvelope } from "#api";
import { configMap, namespace, type TestServer, testServer } from "../../testing/index.ts";

const ALL = "/api/v1/configmaps";
const IN_A = "/api/v1/namespaces/a/configmaps";
const IN_B = "/api/v1/namespaces/b/configmaps";

let server: TestServer;
const get = (path: string) => server.request("GET", path);
const add = async (path: string, name: string, labels: Record<string, string> = {}) => {
  const { status, metadata } = await server.request("POST", path, { body: configMap(name, {}, { labels }) });
  expect(status).toBe(201);
  return metadata.resourceVersion ?? "";
};

beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());

describe("get", () => {
  it("answers the object as it was written", async () => {
    const written = await server.request("POST", IN_A, { body: configMap("x", { k: "v" }) });
    const read = await get(`${IN_A}/x`);
    expect([read.status, read.text]).toEqual([200, written.text]);
  });

  it.each([
    { query: "", status: 200 },
    { query: "?resourceVersion=0", status: 200 },
    { query: "?resourceVersion=1", status: 200 },
    { query: "?resourceVersion=abc", status: 500 },
  ])("$query", async ({ query, status }) => {
    await add(IN_A, "x");
    expect((await get(`${IN_A}/x${query}`)).status).toBe(status);
  });

  it("says what is not there", async () => {
    expect((await get(`${IN_A}/none`)).json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'configmaps "none" not found',
      reason: "NotFound",
      details: { name: "none", kind: "configmaps" },
      code: 404,
    });
  });
});

describe("list", () => {
  it("is of the kind's list type, its items without a type of their own", async () => {
    await add(IN_A, "x");
    const { json } = await get(ALL);
    expect(json).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "1" } });
    expect(Object.keys((json as { items: object[] }).items[0] ?? {})).not.toContain("kind");
  });

  it("has an empty list for nothing", async () => {
    expect((await get(ALL)).json).toEqual({
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: "0" },
      items: [],
    });
  });

  it.each([
    { path: ALL, want: ["a/x", "a/y", "b/x"] },
    { path: IN_A, want: ["a/x", "a/y"] },
    { path: "/api/v1/namespaces/none/configmaps", want: [] },
    { path: `${ALL}?labelSelector=on`, want: ["a/x", "b/x"] },
    { path: `${ALL}?labelSelector=on%3D1`, want: ["a/x"] },
    { path: `${ALL}?labelSelector=on%21%3D1`, want: ["a/y", "b/x"] },
    { path: `${ALL}?labelSelector=on+in+(1,2),!off`, want: ["a/x", "b/x"] },
    { path: `${ALL}?fieldSelector=metadata.name%3Dx`, want: ["a/x", "b/x"] },
    { path: `${IN_A}?fieldSelector=metadata.name%3Dx`, want: ["a/x"] },
    { path: `${IN_A}?fieldSelector=metadata.name%3Dx,metadata.name%3Dy`, want: [] },
    { path: `${IN_A}?fieldSelector=metadata.name%21%3Dx`, want: ["a/y"] },
    { path: `${ALL}?fieldSelector=metadata.namespace%3Db`, want: ["b/x"] },
    { path: `${ALL}?fieldSelector=metadata.name%3Dx&labelSelector=on%3D2`, want: ["b/x"] },
  ])("$path", async ({ path, want }) => {
    await add(IN_A, "x", { on: "1" });
    await add(IN_A, "y");
    await add(IN_B, "x", { on: "2" });
    const { status, list } = await get(path);
    expect([status, list.names]).toEqual([200, want]);
  });

  it("knows the fields that a kind lets select by", async () => {
    await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
    expect((await get("/api/v1/namespaces?fieldSelector=status.phase%3DActive")).list.names).toEqual(["a"]);
    expect((await get("/api/v1/namespaces?fieldSelector=status.phase%3DTerminating")).list.names).toEqual([]);
  });

  it.each([
    {
      query: "labelSelector=a%3D%3D%3Db",
      status: 400,
      message: "unable to parse requirement: found '=', expected: identifier",
    },
    {
      query: "fieldSelector=spec.foo%3Db",
      status: 400,
      message: '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
    {
      query: "limit=1&continue=abc",
      status: 400,
      message:
        "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
    },
  ])("refuses $query", async ({ query, status, message }) => {
    expect((await get(`${ALL}?${query}`)).json).toMatchObject({ code: status, message, reason: "BadRequest" });
  });
});

describe("a list in pages", () => {
  const fill = async () => {
    for (const name of ["a1", "a2", "a3", "a4", "a5"]) await add(IN_A, name);
    for (const name of ["b1", "b2"]) await add(IN_B, name);
  };

  async function pages(path: string, limit: number, between: () => Promise<unknown>) {
    const seen: (readonly string[])[] = [];
    const remaining: (number | undefined)[] = [];
    const revisions = new Set<string>();
    for (let token = ""; ; ) {
      const joint = path.includes("?") ? "&" : "?";
      const { status, list } = await get(`${path}${joint}limit=${limit}${token === "" ? "" : `&continue=${token}`}`);
      expect(status).toBe(200);
      seen.push(list.names);
      remaining.push(list.metadata.remainingItemCount);
      revisions.add(list.metadata.resourceVersion);
      if (list.metadata.continue === undefined) return { seen, remaining, revisions: revisions.size };
      token = list.metadata.continue;
      await between();
    }
  }

  /** Writes before, behind and in the part that is still to come. */
  const disturb = async () => {
    await server.request("DELETE", `${IN_A}/a4`);
    await add(IN_A, `a0-${server.context.feed.revision}`);
    await add(IN_A, `a9-${server.context.feed.revision}`);
  };

  const cases = [
    {
      path: ALL,
      limit: 3,
      seen: [["a/a1", "a/a2", "a/a3"], ["a/a4", "a/a5", "b/b1"], ["b/b2"]],
      remaining: [4, 1, undefined],
    },
    { path: IN_A, limit: 2, seen: [["a/a1", "a/a2"], ["a/a3", "a/a4"], ["a/a5"]], remaining: [3, 1, undefined] },
    { path: IN_A, limit: 5, seen: [["a/a1", "a/a2", "a/a3", "a/a4", "a/a5"]], remaining: [undefined] },
    {
      path: `${ALL}?labelSelector=!none`,
      limit: 4,
      seen: [
        ["a/a1", "a/a2", "a/a3", "a/a4"],
        ["a/a5", "b/b1", "b/b2"],
      ],
      remaining: [undefined, undefined],
    },
  ];

  it.each(cases)("is of one state while writes go on: $path by $limit", async ({ path, limit, seen, remaining }) => {
    await fill();
    expect(await pages(path, limit, disturb)).toEqual({ seen, remaining, revisions: 1 });
  });

  it.each(cases)(
    "also when the store has to be asked for it: $path by $limit",
    async ({ path, limit, seen, remaining }) => {
      await fill();
      const { cache } = server.resources.find("", "v1", "configmaps") ?? expect.unreachable();
      const forget = async () => {
        await disturb();
        // Other lists push the state out.
        for (let i = 0; i < 64; i++) cache.keep(1_000_000 + i, cache.snapshot());
      };
      expect(await pages(path, limit, forget)).toEqual({ seen, remaining, revisions: 1 });
    },
  );

  it("takes the state of one namespace never for that of all", async () => {
    await fill();
    const revision = (await get(ALL)).list.metadata.resourceVersion;
    await disturb();
    const exact = `limit=2&resourceVersion=${revision}&resourceVersionMatch=Exact`;
    expect((await get(`${IN_A}?${exact}`)).list.names).toEqual(["a/a1", "a/a2"]);
    const first = await get(`${ALL}?${exact}`);
    const { list } = await get(`${ALL}?continue=${first.list.metadata.continue}`);
    expect([...first.list.names, ...list.names]).toEqual(["a/a1", "a/a2", "a/a3", "a/a4", "a/a5", "b/b1", "b/b2"]);
  });

  it("says 410 when its state is gone, and how to go on", async () => {
    await fill();
    const first = await get(`${IN_A}?limit=2`);
    await disturb();
    const { cache } = server.resources.find("", "v1", "configmaps") ?? expect.unreachable();
    for (let i = 0; i < 64; i++) cache.keep(1_000_000 + i, cache.snapshot());
    await server.store.compact(await server.store.revision());
    const expired = await get(`${IN_A}?limit=2&continue=${first.list.metadata.continue}`);
    expect(expired.json).toMatchObject({
      code: 410,
      reason: "Expired",
      message: expect.stringContaining("continue parameter is too old"),
    });
    const { continue: token } = (expired.json as { metadata: { continue: string } }).metadata;
    expect((await get(`${IN_A}?limit=2&continue=${token}`)).list.names).toEqual(["a/a3", "a/a5"]);
  });

  it("expires five minutes after its state was replaced, and goes on behind its last page", async () => {
    await fill();
    const first = await get(`${ALL}?limit=2`);
    const next = `${ALL}?limit=2&continue=${first.list.metadata.continue}`;
    await server.clock.advance(20 * 60_000);
    expect((await get(next)).list.names).toEqual(["a/a3", "a/a4"]);
    await disturb();
    await server.clock.advance(5 * 60_000 - 1);
    expect((await get(next)).list.names).toEqual(["a/a3", "a/a4"]);
    await server.clock.advance(1);
    const accept = { headers: { accept: "application/vnd.kubernetes.protobuf,application/json" } };
    const encoded = await server.request("GET", next, accept);
    const { json } = await get(next);
    expect([json.code, json.metadata]).toEqual([410, { continue: expect.any(String) }]);
    const { continue: token } = json.metadata as { continue: string };
    expect(Buffer.from(decodeEnvelope(encoded.bytes).raw).toString("latin1")).toContain(token);
    const { list } = await get(`${ALL}?limit=2&continue=${token}`);
    expect(list.names).toEqual(["a/a3", "a/a5"]);
    expect(list.metadata.resourceVersion).not.toBe(first.list.metadata.resourceVersion);
    const rest = await get(`${ALL}?limit=2&continue=${list.metadata.continue}`);
    expect(rest.list.metadata.resourceVersion).toBe(list.metadata.resourceVersion);
    expect(rest.list.names).toEqual([expect.stringMatching("a/a9"), "b/b1"]);
    const exact = await get(`${ALL}?resourceVersionMatch=Exact&resourceVersion=${first.list.metadata.resourceVersion}`);
    expect([exact.json.code, exact.json.metadata]).toEqual([410, {}]);
  });

  it("never repeats and never skips, whatever the limit", async () => {
    await fill();
    const whole = (await get(ALL)).list.names;
    for (let limit = 1; limit <= whole.length + 1; limit++) {
      const { seen } = await pages(ALL, limit, async () => {});
      expect(seen.flat()).toEqual(whole);
    }
  });
});

describe("a list of a revision", () => {
  const path = (query: string) => `${IN_A}?${query}`;
  const state = async () => {
    await add(IN_A, "x");
    const middle = await add(IN_A, "y");
    await server.request("DELETE", `${IN_A}/x`);
    await add(IN_A, "z");
    return middle;
  };

  it.each([
    { name: "any", query: () => "resourceVersion=0", want: ["a/y", "a/z"] },
    { name: "not older than", query: (at: string) => `resourceVersion=${at}`, want: ["a/y", "a/z"] },
    {
      name: "not older than, said so",
      query: (at: string) => `resourceVersion=${at}&resourceVersionMatch=NotOlderThan`,
      want: ["a/y", "a/z"],
    },
    {
      name: "that very one",
      query: (at: string) => `resourceVersion=${at}&resourceVersionMatch=Exact`,
      want: ["a/x", "a/y"],
    },
    { name: "the newest, exactly", query: () => "resourceVersion=4&resourceVersionMatch=Exact", want: ["a/y", "a/z"] },
  ])("$name", async ({ query, want }) => {
    const middle = await state();
    const { list } = await get(path(query(middle)));
    expect(list.names).toEqual(want);
  });

  it("says as of when it is", async () => {
    const middle = await state();
    const exact = await get(path(`resourceVersion=${middle}&resourceVersionMatch=Exact`));
    expect(exact.list.metadata.resourceVersion).toBe(middle);
    expect((await get(path(`resourceVersion=${middle}`))).list.metadata.resourceVersion).toBe("4");
  });

  it("says 410 when that is gone", async () => {
    const middle = await state();
    await server.store.compact(await server.store.revision());
    expect((await get(path(`resourceVersion=${middle}&resourceVersionMatch=Exact`))).json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "The resourceVersion for the provided list is too old.",
      reason: "Expired",
      code: 410,
    });
  });

  it.each([
    path("resourceVersion=99"),
    path("resourceVersion=99&resourceVersionMatch=Exact"),
    `${IN_A}/x?resourceVersion=99`,
  ])("waits for one to come, but not for long: %s", async (url) => {
    await state();
    const asked = get(url);
    await server.clock.advance(3_000);
    const { status, headers, json } = await asked;
    expect([status, headers["retry-after"]]).toEqual([504, "1"]);
    expect(json).toMatchObject({
      message: "Timeout: Too large resource version: 99, current: 4",
      reason: "Timeout",
      details: {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      },
    });
    // The timer that all requests share finds none. The store keeps a timer of its own.
    await server.clock.advance(60_000);
    expect(server.clock.pending).toBeLessThanOrEqual(1);
  });

  it("is answered as soon as it has come", async () => {
    await state();
    const asked = get(path("resourceVersion=5"));
    await add(IN_A, "w");
    expect((await asked).list.names).toEqual(["a/w", "a/y", "a/z"]);
  });
});
