/** Reads of past state, and the errors of those that cannot be answered. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_MODES } from "../authz/config.ts";
import { user } from "../authz/testing/questions.ts";
import { type TestServer, testServer } from "../testing/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe("the state as it was", () => {
  let server: TestServer;
  /** After each of: a, b made; a changed; b deleted. */
  const revisions: number[] = [];
  beforeEach(async () => {
    server = await testServer({ modes: DEFAULT_MODES });
    revisions.length = 0;
    const done = async (method: string, path: string, body?: object) => {
      await server.clock.advance(60_000);
      const { status, text } = await server.request(method, path, body === undefined ? {} : { body });
      if (status >= 300) throw new Error(text);
      revisions.push(server.context.feed.revision);
    };
    const map = (name: string, value: string) => ({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name },
      data: { value },
    });
    await done("POST", MAPS, map("a", "1"));
    await done("POST", MAPS, map("b", "1"));
    await done("PUT", `${MAPS}/a`, map("a", "2"));
    await done("DELETE", `${MAPS}/b`);
    await server.clock.advance(30_000);
  });
  afterEach(() => server.close());
  const at = (index: number) => String(revisions[index]);
  const iso = (agoMs: number) => new Date(server.clock.now() - agoMs).toISOString();

  it("can be got, of one object", async () => {
    const get = (when: string, name: string) => server.request("GET", `${MAPS}/${name}?k8ts-at=${when}`);
    expect((await get(at(0), "a")).json.data).toEqual({ value: "1" });
    expect((await get(at(2), "a")).json.data).toEqual({ value: "2" });
    expect((await get(at(2), "b")).metadata.resourceVersion).toBe(at(1));
    expect((await get(at(3), "b")).status).toBe(404);
    expect((await get(at(0), "b")).status).toBe(404);
  });

  it.each<[string, () => string, string[]]>([
    ["a revision", () => at(0), ["default/a"]],
    ["a later one", () => at(1), ["default/a", "default/b"]],
    ["the newest", () => at(3), ["default/a"]],
    ["a while ago", () => "-45s", ["default/a", "default/b"]],
    ["a while ago, without a sign", () => "2m", ["default/a", "default/b"]],
    ["a time", () => iso(200_000), ["default/a"]],
  ])("can be listed as of %s", async (_, when, want) => {
    const { list } = await server.request("GET", `${MAPS}?k8ts-at=${encodeURIComponent(when())}`);
    expect(list.names).toEqual(want);
  });

  it("is a server of its own for who likes: with selectors, pages and tables", async () => {
    const base = `/k8ts/at/${at(1)}`;
    const first = (await server.request("GET", `${base}${MAPS}?limit=1`)).list;
    expect(first.names).toEqual(["default/a"]);
    const next = await server.request("GET", `${base}${MAPS}?limit=1&continue=${first.metadata.continue}`);
    expect(next.list.names).toEqual(["default/b"]);
    const one = await server.request("GET", `${base}${MAPS}?fieldSelector=metadata.name%3Db`);
    expect(one.list.names).toEqual(["default/b"]);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const table = (await server.request("GET", `${base}${MAPS}`, { headers: { accept } })).json;
    // Ages are those of then.
    expect((table.rows as { cells: unknown[] }[]).map(({ cells }) => cells)).toEqual([
      ["a", 1, "60s"],
      ["b", 1, "0s"],
    ]);
    expect((await server.request("GET", `${base}/version`)).status).toBe(200);
    expect((await server.request("GET", `${base}/api`)).json.kind).toBe("APIVersions");
  });

  it.each<[string, string, string, number, string]>([
    ["writes", "POST", "/k8ts/at/1", 405, "past state is read-only (get and list): no create of configmaps"],
    ["deletions", "DELETE", "/k8ts/at/1", 405, "no deletecollection of configmaps"],
    ["watches", "GET", "/k8ts/at/1?watch=true", 405, "past state does not change"],
    ["a revision to come", "GET", "/k8ts/at/99999", 400, "revision 99999 does not exist yet: the newest is"],
    ["the future", "GET", "/k8ts/at/2999-01-01T00:00:00Z", 400, "is in the future"],
    ["something else", "GET", "/k8ts/at/yesterday", 400, "is not a moment: use a revision (1041), a time"],
    ["times before all", "GET", "/k8ts/at/-1000h", 410, "is not known: times are known since"],
  ])("refuses %s", async (_, method, url, want, words) => {
    const [prefix = "", query = ""] = url.split("?");
    const body = method === "POST" ? { body: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "x" } } } : {};
    const { status, json } = await server.request(method, `${prefix}${MAPS}${query && `?${query}`}`, body);
    expect([status, json.message]).toEqual([want, expect.stringContaining(words)]);
  });

  it("says so of what is no longer kept", async () => {
    await server.store.compact(revisions[2] ?? 0);
    for (const path of [MAPS, `${MAPS}/a`]) {
      const { status, json } = await server.request("GET", `${path}?k8ts-at=${at(0)}`);
      expect([status, json.reason]).toEqual([410, "Expired"]);
      expect(json.message).toBe(
        `k8ts-at: the state at revision ${at(0)} is no longer kept, history goes back to revision ${at(2)} (--history-window)`,
      );
    }
  });

  it("is shown to those who may see the present", async () => {
    expect((await server.request("GET", `/k8ts/at/${at(0)}${MAPS}`, { user: user("jane") })).status).toBe(403);
  });

  it("has a revision for each moment, for everyone who asks", async () => {
    const { json } = await server.request("GET", "/k8ts/history?at=-45s", { user: user("jane") });
    expect(json).toMatchObject({ revision: revisions[2], newest: { revision: revisions[3] }, windowSeconds: 600 });
    expect((await server.request("GET", "/k8ts/history", { user: null })).status).toBe(403);
  });
});
