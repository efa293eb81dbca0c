import { afterEach, describe, expect, it } from "vitest";
import type { coordination } from "#api";
import { seededRandom, silentLogger, TaskGroup } from "#base";
import { type TestServer, testServer } from "../apiserver/testing/index.ts";
import { leadElected } from "./leader-election.ts";
import { Client } from "./requests/client.ts";
import type { ResourceName } from "./requests/resource.ts";
import { inProcess } from "./transport/in-process.ts";

const Leases: ResourceName = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};
const ADMIN = { name: "admin", groups: ["system:masters"] };
const PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kcm";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster() {
  const server = await testServer();
  open.push(() => server.close());
  const leading: string[] = [];
  const history: string[] = [];
  let seed = 0;
  const candidate = (identity: string) => {
    const network = { cut: false };
    const handle: TestServer["handle"] = async (request) => {
      if (network.cut)
        return new Promise((_, reject) =>
          request.signal.addEventListener("abort", () => reject(request.signal.reason)),
        );
      return server.handle(request);
    };
    const client = new Client({ transport: inProcess(handle, ADMIN), clock: server.clock, timeoutMs: 5_000 });
    const tasks = new TaskGroup();
    const options = {
      leases: client.of<coordination.Lease>(Leases).in("kube-system"),
      name: "kcm",
      identity,
      clock: server.clock,
      random: seededRandom(++seed),
      log: silentLogger,
    };
    tasks.run(identity, (signal) =>
      leadElected(options, signal, async (term) => {
        leading.push(identity);
        history.push(`${leading.length} ${identity}`);
        await new Promise<void>((resolve) => term.addEventListener("abort", () => resolve(), { once: true }));
        leading.splice(leading.indexOf(identity), 1);
      }),
    );
    const stop = async () => {
      await tasks.stop();
      await client.close();
    };
    open.push(stop);
    return { stop, network };
  };
  return { server, clock: server.clock, candidate, leading, history };
}

describe("leader election", () => {
  it("one leads, and stays the leader while it renews", async () => {
    const { clock, candidate, leading, history } = await cluster();
    candidate("a");
    candidate("b");
    await clock.advance(60_000);
    expect(leading).toHaveLength(1);
    await clock.advance(600_000);
    expect(history).toHaveLength(1);
  });

  it("the next takes over at once where the lease is given back", async () => {
    const { server, clock, candidate, leading } = await cluster();
    const a = candidate("a");
    await clock.advance(1_000);
    candidate("b");
    await clock.advance(10_000);
    expect(leading).toEqual(["a"]);
    const stopped = a.stop();
    await clock.advance(5_000);
    await stopped;
    expect(leading).toEqual(["b"]);
    expect((await server.request("GET", PATH)).json.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  });

  it("never two at once: who cannot renew stops before another may start", async () => {
    const { clock, candidate, leading, history } = await cluster();
    const a = candidate("a");
    await clock.advance(1_000);
    candidate("b");
    await clock.advance(10_000);
    a.network.cut = true;
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      expect(leading.length).toBeLessThanOrEqual(1);
    }
    expect(leading).toEqual(["b"]);
    expect(history).toEqual(["1 a", "1 b"]);
  });

  it("does not believe the clocks of others", async () => {
    const { server, clock, candidate, leading } = await cluster();
    const ago = new Date(clock.now() - 3600_000).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "c", leaseDurationSeconds: 15, renewTime: ago, acquireTime: ago };
    await server.request("POST", PATH.replace("/kcm", ""), { body: { metadata: { name: "kcm" }, spec } });
    candidate("a");
    await clock.advance(10_000);
    expect(leading).toEqual([]);
    await clock.advance(10_000);
    expect(leading).toEqual(["a"]);
  });
});
