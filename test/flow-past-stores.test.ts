/** The state as it was, on stores that outlive a server: embedded and etcd. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { openStore, type Store } from "#store";
import { type TestServer, testServer } from "../src/apiserver/testing/index.ts";
import { type EtcdServer, findEtcd, startEtcd } from "../src/store/testing/etcd-server.ts";
import { Home } from "./support/k8ts.ts";
import { CommandLine, tool } from "./support/tools.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const dir = mkdtempSync(join(tmpdir(), "k8ts-past-"));
let etcd: EtcdServer | undefined;

beforeAll(async () => {
  if (findEtcd() !== undefined) etcd = await startEtcd({ members: 1, tls: false, dir: join(dir, "etcd") });
});
afterAll(async () => {
  await etcd?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const stores: Record<string, () => Promise<Store>> = {
  embedded: () => openStore({ kind: "embedded", dir: join(dir, "embedded"), clock: realClock() }),
  etcd: () => openStore({ kind: "etcd", endpoints: etcd?.endpoints ?? [], clock: realClock() }),
};

describe.each(["embedded", "etcd"])("the past on %s", (kind) => {
  const can = kind === "embedded" || findEtcd() !== undefined;
  let store: Store;
  let server: TestServer;
  const open = async () => {
    store = await (stores[kind]?.() ?? Promise.reject(new Error(kind)));
    server = await testServer({ store });
  };
  const close = async () => {
    await server.close();
    await store.close();
  };
  beforeEach(async () => {
    if (can) await open();
  });
  afterEach(async () => {
    if (can) await close();
  });

  const put = async (name: string, value: string): Promise<number> => {
    const body = { kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { value } };
    const exists = (await server.request("GET", `${MAPS}/${name}`)).status === 200;
    const [method, path] = exists ? (["PUT", `${MAPS}/${name}`] as const) : (["POST", MAPS] as const);
    const { status, text, metadata } = await server.request(method, path, { body });
    if (status >= 300) throw new Error(text);
    return Number(metadata.resourceVersion);
  };
  const valueAt = async (name: string, revision: number) =>
    ((await server.request("GET", `${MAPS}/${name}?k8ts-at=${revision}`)).json.data as { value: string }).value;

  it.skipIf(!can)("is there after a restart of the server", async () => {
    const [first, second] = [await put("kept", "1"), await put("kept", "2")];
    const gone = await put("gone", "1");
    await server.request("DELETE", `${MAPS}/gone`);
    await close();
    await open();
    expect(await valueAt("kept", first)).toBe("1");
    expect(await valueAt("kept", second)).toBe("2");
    const { list } = await server.request("GET", `/k8ts/at/${gone}${MAPS}`);
    expect(list.names).toEqual(expect.arrayContaining(["default/gone", "default/kept"]));
    expect((await server.request("GET", `${MAPS}/gone`)).status).toBe(404);
  });

  it.skipIf(!can)("ends where the store was compacted, in clear words, also after a restart", async () => {
    const [first, second] = [await put("short", "1"), await put("short", "2")];
    await store.compact(second);
    for (const again of [false, true]) {
      if (again) {
        await close();
        await open();
      }
      for (const path of [MAPS, `${MAPS}/short`]) {
        const { status, json } = await server.request("GET", `${path}?k8ts-at=${first}`);
        expect([status, json.reason]).toEqual([410, "Expired"]);
        expect(json.message).toMatch(
          new RegExp(`^k8ts-at: the state at revision ${first} is no longer kept.* \\(--history-window\\)$`),
        );
      }
      expect(await valueAt("short", second)).toBe("2");
    }
  });
});

const program = tool("kubectl");

describe.skipIf(program === undefined)("k8ts at and diff after a restart", () => {
  const home = new Home();
  const kubectl = new CommandLine(program, () => home);
  const up = async () => {
    const started = await home.k8ts("up", "--store", "embedded", "--port", "0", "--detach");
    if (started.code !== 0) throw new Error(started.stderr);
  };
  afterAll(() => home[Symbol.asyncDispose]());

  it("show what was before it", async () => {
    await up();
    await kubectl.ok("create", "configmap", "past", "--from-literal=v=1");
    const revision = await kubectl.ok("get", "configmap", "past", "-o", "jsonpath={.metadata.resourceVersion}");
    await kubectl.ok("patch", "configmap", "past", "-p", '{"data":{"v":"2"}}');
    await home.k8ts("down");
    await up();
    const value = await home.k8ts("at", revision, "get", "configmap", "past", "-o", "jsonpath={.data.v}");
    expect(value).toMatchObject({ code: 0, stdout: "1" });
    const { stdout } = await home.k8ts("diff", revision, "0s", "configmap/past");
    expect(stdout).toContain('~ configmaps default/past\n    data.v: "1" → "2"\n');
    // Which revision it was then, this server has not seen.
    const earlier = await home.k8ts("at", "-1h", "get", "configmaps");
    expect(earlier).toMatchObject({ code: 1, stderr: expect.stringContaining("times are known since") });
  });
});
