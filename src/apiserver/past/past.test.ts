/** Reads of past state, and the errors of those that cannot be answered. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_MODES } from "../authz/config.ts";
import { binding, role, user } from "../authz/testing/questions.ts";
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

  it("refuses a moment that cannot be decoded, once it is known who asks", async () => {
    for (const path of ["/k8ts/at/%", `/k8ts/at/%${MAPS}`, `/k8ts/at/%ff${MAPS}`]) {
      expect((await server.request("GET", path, { user: null })).status).toBe(403);
      expect((await server.request("GET", path)).status).toBe(path.endsWith("%") ? 200 : 400);
    }
  });

  it("has a revision for each moment, for everyone who asks", async () => {
    const { json } = await server.request("GET", "/k8ts/history?at=-45s", { user: user("jane") });
    expect(json).toMatchObject({ revision: revisions[2], newest: { revision: revisions[3] }, windowSeconds: 600 });
    const now = await server.request("GET", "/k8ts/history?at=now", { user: user("jane") });
    expect(now.json).toMatchObject({ revision: revisions[3] });
    expect((await server.request("GET", "/k8ts/history", { user: null })).status).toBe(403);
  });
});

describe("the right to read the past", () => {
  const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces";
  const SHOP = "/api/v1/namespaces/shop";
  const JANE = user("jane", "system:authenticated");
  let server: TestServer;
  beforeEach(async () => {
    server = await testServer({ modes: DEFAULT_MODES });
    await founded("old");
  });
  afterEach(() => server.close());

  const done = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer;
  };
  /** A namespace with a ConfigMap and a Secret. */
  const founded = async (value: string) => {
    await done("POST", "/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", metadata: { name: "shop" } });
    for (const [kind, plural] of Object.entries({ ConfigMap: "configmaps", Secret: "secrets" })) {
      const content = kind === "Secret" ? { stringData: { value } } : { data: { value } };
      await done("POST", `${SHOP}/${plural}`, { kind, apiVersion: "v1", metadata: { name: "a" }, ...content });
    }
  };
  const grant = async (verbs: readonly string[]) => {
    const rules = [{ verbs, apiGroups: [""], resources: ["configmaps", "secrets", "namespaces"] }];
    await done("POST", `${RBAC}/shop/roles`, role("jane", rules, "shop"));
    await done("POST", `${RBAC}/shop/rolebindings`, binding("jane", "Role jane", ["User jane"], "shop"));
  };
  const asked = async (path: string, revision: number, who?: typeof JANE) => {
    const { status, json } = await server.request("GET", `${path}?k8ts-at=${revision}`, who && { user: who });
    return status === 403 ? (json.message as string).replace(/^.*: User/, "User") : status;
  };

  it("is a verb of its own, and another one for Secrets", async () => {
    await grant(["get", "list"]);
    const revision = server.context.feed.revision;
    const cannot = (verb: string, what: string) =>
      `User "jane" cannot ${verb} resource "${what}" in API group "" in the namespace "shop"`;
    expect(await asked(`${SHOP}/configmaps/a`, revision, JANE)).toBe(cannot("past", "configmaps"));
    expect(await asked(`${SHOP}/secrets`, revision, JANE)).toBe(cannot("past-secrets", "secrets"));
    await done("DELETE", `${RBAC}/shop/roles/jane`);
    await done("DELETE", `${RBAC}/shop/rolebindings/jane`);
    await grant(["get", "list", "past"]);
    expect(await asked(`${SHOP}/configmaps/a`, revision, JANE)).toBe(200);
    expect(await asked(`${SHOP}/secrets/a`, revision, JANE)).toBe(cannot("past-secrets", "secrets"));
    await done("DELETE", `${RBAC}/shop/roles/jane`);
    await done("DELETE", `${RBAC}/shop/rolebindings/jane`);
    await grant(["get", "list", "past-secrets"]);
    expect(await asked(`${SHOP}/secrets/a`, revision, JANE)).toBe(200);
    expect(await asked(`${SHOP}/configmaps/a`, revision, JANE)).toBe(cannot("past", "configmaps"));
    // Administrators.
    for (const plural of ["configmaps", "secrets"]) expect(await asked(`${SHOP}/${plural}`, revision)).toBe(200);
  });

  it("ends where the namespace was another one of the same name", async () => {
    const before = server.context.feed.revision;
    for (const plural of ["configmaps", "secrets"]) await done("DELETE", `${SHOP}/${plural}/a`);
    const { json } = await done("DELETE", SHOP);
    await done("PUT", `${SHOP}/finalize`, { ...json, spec: { finalizers: [] } });
    expect((await server.request("GET", SHOP)).status).toBe(404);
    await founded("new");
    await grant(["get", "list", "past", "past-secrets"]);
    const after = server.context.feed.revision;
    for (const path of [`${SHOP}/secrets/a`, `${SHOP}/configmaps`, SHOP]) {
      expect(await asked(path, after, JANE)).toBe(200);
      expect(await asked(path, before, JANE)).toMatch(
        /^User "jane" cannot (get|list) resource .* at the cluster scope$/,
      );
      expect(await asked(path, before)).toBe(200);
    }
  });

  it("is not reached by lists, pages and watches of a namespace that was another one", async () => {
    const before = server.context.feed.revision;
    await done("POST", `${SHOP}/configmaps`, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "b" } });
    const { json: page } = await done("GET", `${SHOP}/configmaps?limit=1`);
    const { continue: token } = page.metadata as { readonly continue: string };
    for (const path of ["configmaps/a", "configmaps/b", "secrets/a"]) await done("DELETE", `${SHOP}/${path}`);
    const { json } = await done("DELETE", SHOP);
    await done("PUT", `${SHOP}/finalize`, { ...json, spec: { finalizers: [] } });
    const reads = {
      list: `${SHOP}/secrets?resourceVersion=${before}&resourceVersionMatch=Exact`,
      "the next page": `${SHOP}/configmaps?limit=1&continue=${token}`,
      watch: `${SHOP}/configmaps?watch=true&timeoutSeconds=1&resourceVersion=${before}`,
      "watch of the namespace": `/api/v1/watch/namespaces/shop?timeoutSeconds=1&resourceVersion=${before}`,
    };
    const answers = async () => {
      const found: Record<string, unknown> = {};
      for (const [what, path] of Object.entries(reads)) {
        if (!path.includes("watch")) found[what] = (await server.request("GET", path)).status;
        else {
          const watch = await server.watch(path);
          await server.settle();
          const [first] = watch.events;
          found[what] = first?.type === "ERROR" ? (first.object as unknown as { code: number }).code : first?.type;
          await watch.close();
        }
      }
      return found;
    };
    // Its deletion can be watched as long as nobody else has the name.
    expect(await answers()).toEqual({
      list: 200,
      "the next page": 200,
      watch: "ADDED",
      "watch of the namespace": "MODIFIED",
    });
    await founded("new");
    const gone = { list: 410, "the next page": 410, watch: 410, "watch of the namespace": 410 };
    expect(await answers()).toEqual(gone);
  });

  it("does not keep clients from a watch that began before the namespace", async () => {
    const before = server.context.feed.revision;
    await done("POST", "/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", metadata: { name: "first" } });
    const path = "/api/v1/namespaces/first/configmaps";
    await done("POST", path, { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" } });
    const watch = await server.watch(`${path}?watch=true&resourceVersion=${before}`);
    await server.settle();
    expect(watch.events).toMatchObject([{ type: "ADDED", object: { metadata: { name: "a" } } }]);
    await watch.close();
  });
});
