import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { silentLogger, VirtualClock } from "#base";
import { answerHealth } from "./health.ts";
import { healthChecks } from "./health-checks.ts";

const reference = fileURLToPath(new URL("../../../../shared/reference/health/", import.meta.url));

describe("the health of an API server", () => {
  const state = { joined: true, storeFails: false };
  const stopping = new AbortController();
  const checks = healthChecks({
    store: { revision: () => (state.storeFails ? Promise.reject(new Error("no store")) : Promise.resolve(1)) },
    stopping: stopping.signal,
    joined: () => state.joined,
    others: [{ name: "kms-provider-0", check: async () => {} }],
  });
  const ask = (endpoint: string, only?: string) =>
    answerHealth({ endpoint, only, verbose: true, exclude: [] }, checks[endpoint] ?? [], silentLogger);

  it.each(["healthz", "livez", "readyz"])("%s follows what it stands for", async (endpoint) => {
    Object.assign(state, { joined: true, storeFails: false });
    expect((await ask(endpoint)).status).toBe(200);
    state.joined = false;
    const { status, body } = await ask(endpoint);
    expect(status).toBe(500);
    expect(body).toContain("[-]poststarthook/bootstrap-controller failed: reason withheld\n");
    expect(body).toContain("[+]poststarthook/rbac/bootstrap-roles ok\n");
    expect((await ask(endpoint, "poststarthook/rbac/bootstrap-roles")).body).toBe("ok");
    Object.assign(state, { joined: true, storeFails: true });
    expect((await ask(endpoint)).body).toContain("[-]etcd failed: reason withheld\n");
    expect((await ask(endpoint, "kms-provider-0")).status).toBe(200);
  });

  it("waits for the store as long as it is told, for readiness as for health", async () => {
    const waited: (number | undefined)[] = [];
    const own = healthChecks({
      store: {
        revision: async (options) => {
          waited.push(options?.timeoutMs);
          return 1;
        },
      },
      stopping: new AbortController().signal,
      joined: () => true,
      timeouts: { healthTimeoutMs: 1_000, readyTimeoutMs: 500 },
      others: [],
    });
    for (const { check } of own.readyz?.filter(({ name }) => name.startsWith("etcd")) ?? []) await check();
    for (const { check } of own.livez?.filter(({ name }) => name.startsWith("etcd")) ?? []) await check();
    expect(waited).toEqual([1_000, 500, 1_000]);
  });

  it("is alive for a while before its hooks are finished, and not ready when it is about to stop", async () => {
    const clock = new VirtualClock();
    let leaving = false;
    const facts = {
      store: { revision: () => Promise.resolve(1) },
      stopping: new AbortController().signal,
      others: [],
      leaving: () => leaving,
    };
    const starting = healthChecks({ ...facts, joined: () => false, livezGrace: { ms: 1_000, clock } });
    const statusOf = async (endpoint: string, of: typeof checks) =>
      (await answerHealth({ endpoint, verbose: false, exclude: [] }, of[endpoint] ?? [], silentLogger)).status;
    expect([await statusOf("livez", starting), await statusOf("healthz", starting)]).toEqual([200, 500]);
    await clock.advance(1_000);
    expect(await statusOf("livez", starting)).toBe(500);
    const running = healthChecks({ ...facts, joined: () => true });
    expect(await statusOf("readyz", running)).toBe(200);
    leaving = true;
    expect([await statusOf("readyz", running), await statusOf("livez", running)]).toEqual([500, 200]);
  });

  it("is not ready while it stops", async () => {
    Object.assign(state, { joined: true, storeFails: false });
    stopping.abort();
    expect((await ask("readyz")).body).toContain("[-]shutdown failed");
    expect((await ask("livez")).status).toBe(200);
  });

  it.skipIf(!existsSync(reference)).each(["healthz", "livez", "readyz"])(
    "%s has the checks of Kubernetes, in its order (../shared/reference)",
    (endpoint) => {
      const lines = readFileSync(`${reference}${endpoint}.txt`, "utf8").matchAll(/^\[\+\](\S+) ok$/gm);
      const own = (checks[endpoint] ?? []).map(({ name }) => name).filter((name) => !name.startsWith("kms"));
      expect(own).toEqual([...lines].map(([, name]) => name));
    },
  );
});
