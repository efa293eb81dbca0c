/**
 * Two controller managers on one cluster: one works, the other waits for the lease to run out. Whatever happens to the
 * first, no work is lost, and never do both work at the same time.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type apps, kinds } from "#api";
import { MetricsRegistry, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess, leadElected } from "#client";
import { type TestServer, testServer } from "../apiserver/testing/index.ts";
import { deploymentController } from "./deployment/index.ts";
import { replicaSetController } from "./replica-set/index.ts";
import { type Controller, controllerMetrics, runControllers } from "./runtime/index.ts";
import { reportPods } from "./testing/index.ts";

const MASTERS = ["system:masters"];
const LEASE_MS = 15_000;
const RETRY_MS = 2_000;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Network = "up" | "lost before the server" | "lost behind the server";

/** What the managers do, as it happens: a reconcile with its writes, or a single write. */
interface Diary {
  /** What is under way, and whose it is. */
  readonly working: Map<string, string>;
  readonly overlaps: string[];
  readonly reconciled: { readonly manager: string; readonly key: string; readonly atMs: number }[];
  readonly writes: { readonly manager: string; readonly path: string; readonly atMs: number }[];
}

class Manager {
  readonly name: string;
  network: Network = "up";
  /** Cuts the network at this write. */
  cutAtWrite: { readonly count: number; readonly as: Network } | undefined;
  #writes = 0;
  readonly #server: TestServer;
  readonly #diary: Diary;
  readonly #tasks = new TaskGroup();

  constructor(name: string, server: TestServer, diary: Diary) {
    this.name = name;
    this.#server = server;
    this.#diary = diary;
    const { clock } = server;
    const client = this.#client("system:kube-controller-manager");
    const random = seededRandom(name.length);
    const metrics = controllerMetrics(new MetricsRegistry());
    const leases = client.of(kinds.Lease).in("kube-system");
    const election = { leases, name: "kcm", identity: name, clock, random, log: silentLogger };
    this.#tasks.run(name, (signal) =>
      leadElected(election, signal, (term) =>
        runControllers(
          {
            controllers: [deploymentController, replicaSetController].map((each) => this.#watched(each)),
            client,
            clientOf: (account) => this.#client(account),
            instance: name,
            clock,
            random,
            log: silentLogger,
            metrics,
          },
          term,
        ),
      ),
    );
  }

  /** Ends it in good order: the lease is given back. */
  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  /** As kill -9 does: nothing of it reaches the server any more. */
  kill(): void {
    this.network = "lost before the server";
  }

  #client(user: string): Client {
    const { clock } = this.#server;
    const transport = inProcess((request) => this.#send(request), { name: user, groups: MASTERS });
    return new Client({ transport, clock, timeoutMs: 5_000 });
  }

  async #send(request: Parameters<TestServer["handle"]>[0]): Promise<Awaited<ReturnType<TestServer["handle"]>>> {
    const isWork = request.method !== "GET" && !request.path.includes("/leases");
    if (isWork && this.#writes + 1 === this.cutAtWrite?.count) this.network = this.cutAtWrite.as;
    if (this.network === "lost before the server") return never(request.signal);
    if (!isWork) {
      const answer = await this.#server.handle(request);
      return this.network === "up" ? answer : never(request.signal);
    }
    const write = `write ${++this.#writes}`;
    this.#diary.writes.push({ manager: this.name, path: request.path, atMs: this.#server.clock.monotonic() });
    const done = this.#begin(write);
    const answer = await Promise.resolve(this.#server.handle(request)).finally(done);
    return this.network === "up" ? answer : never(request.signal);
  }

  /** Nobody else may be at work, and nobody on the same. */
  #begin(work: string): () => void {
    const { working, overlaps } = this.#diary;
    const other = working.get(work) ?? [...working.values()].find((manager) => manager !== this.name);
    if (other !== undefined) overlaps.push(`${work}: ${other} and ${this.name}`);
    working.set(work, this.name);
    return () => working.delete(work);
  }

  /** The same controller; what it works on, and when, is written down. */
  #watched(controller: Controller): Controller {
    const { reconciled } = this.#diary;
    return {
      ...controller,
      bind: (context) => {
        const reconciler = controller.bind(context);
        return {
          sources: reconciler.sources,
          reconcile: async (key, now, signal) => {
            const name = `${controller.name} ${key}`;
            reconciled.push({ manager: this.name, key: name, atMs: context.clock.monotonic() });
            const done = this.#begin(name);
            try {
              return await reconciler.reconcile(key, now, signal);
            } finally {
              done();
            }
          },
        };
      },
    };
  }
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function cluster() {
  const server = await testServer();
  open.push(() => server.close());
  const client = new Client({
    transport: inProcess(server.handle, { name: "admin", groups: MASTERS }),
    clock: server.clock,
  });
  open.push(() => client.close());
  const diary: Diary = { working: new Map(), overlaps: [], reconciled: [], writes: [] };
  const manager = (name: string) => {
    const made = new Manager(name, server, diary);
    open.push(async () => {
      // A killed one waits for answers that never come, until its own deadlines end that.
      const stopped = made.stop();
      await server.clock.advance(60_000);
      await stopped;
    });
    return made;
  };
  const state = async () => {
    const [deployments, sets, pods] = await Promise.all([
      client.of(kinds.Deployment).list(),
      client.of(kinds.ReplicaSet).list(),
      client.of(kinds.Pod).list(),
    ]);
    return deployments.items.map(({ metadata, status }) => {
      const { uid, name } = metadata ?? {};
      const own = sets.items.filter((set) => set.metadata?.ownerReferences?.[0]?.uid === uid);
      const count = (set: apps.ReplicaSet) =>
        pods.items.filter((pod) => pod.metadata?.ownerReferences?.[0]?.uid === set.metadata?.uid).length;
      return `${name}: ${own.map(count).join("+")} pods, ${status?.availableReplicas ?? 0} available`;
    });
  };
  return { server, clock: server.clock, client, diary, manager, state };
}

const deployment = (name: string, replicas = 3): apps.Deployment => ({
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});

const names = ["a", "b", "c", "d", "e", "f"];
const whole = names.map((name) => `${name}: 3 pods, 3 available`);
/** Between two managers there is a time in which nobody works: the old one has stopped, and the lease still holds. */
const handovers = ({ writes }: Diary) =>
  writes.filter(({ manager }, i) => i > 0 && manager !== writes[i - 1]?.manager).map(({ manager }) => manager);

describe("two controller managers", () => {
  it("the standby takes over when the lease of a killed leader has run out, and finishes its work", async () => {
    const { clock, client, diary, manager, state } = await cluster();
    const first = manager("first");
    await clock.advance(1_000);
    manager("standby");
    await clock.advance(5_000);
    for (const name of names.slice(0, 3)) await client.of(kinds.Deployment).create(deployment(name));
    await clock.advance(1_000);
    expect(new Set(diary.writes.map((write) => write.manager))).toEqual(new Set(["first"]));
    first.kill();
    const killedMs = clock.monotonic();
    // What comes while nobody leads is not lost either.
    for (const name of names.slice(3)) await client.of(kinds.Deployment).create(deployment(name));
    await clock.advance(60_000);
    await reportPods(client, clock.now());
    await clock.advance(5_000);

    expect(await state()).toEqual(whole);
    expect(diary.overlaps).toEqual([]);
    expect(handovers(diary)).toEqual(["standby"]);
    const taken = diary.reconciled.find(({ manager: by }) => by === "standby")?.atMs ?? Number.NaN;
    // From the last renewal on the lease holds for its time; it is tried for every few seconds.
    expect(taken - killedMs).toBeGreaterThan(LEASE_MS - 2 * RETRY_MS);
    expect(taken - killedMs).toBeLessThan(LEASE_MS + 2 * RETRY_MS);
    // A leader that cannot renew has stopped before that.
    const last = diary.reconciled.filter(({ manager: by }) => by === "first").at(-1)?.atMs ?? Number.NaN;
    expect(last).toBeLessThan(taken);
  });

  it.each(
    (["lost before the server", "lost behind the server"] as const).flatMap((as) =>
      [1, 2, 3, 5, 8, 13, 21].map((count) => ({ as, count })),
    ),
  )("the leader's network is cut at write $count, $as: nothing is lost, nothing done twice", async ({ as, count }) => {
    const { clock, client, diary, manager, state } = await cluster();
    const first = manager("first");
    first.cutAtWrite = { as, count };
    await clock.advance(1_000);
    manager("standby");
    await clock.advance(3_000);
    for (const name of names) await client.of(kinds.Deployment).create(deployment(name));
    await clock.advance(60_000);
    await reportPods(client, clock.now());
    await clock.advance(30_000);
    expect(await state()).toEqual(whole);
    expect(diary.overlaps).toEqual([]);
    expect(handovers(diary).length).toBeLessThanOrEqual(1);
  });

  it("who has lost the lease stands for election again, and does not work meanwhile", async () => {
    const { clock, client, diary, manager, state } = await cluster();
    const managers = [manager("first"), manager("second")];
    for (const [turn, name] of names.entries()) {
      await clock.advance(40_000);
      await client.of(kinds.Deployment).create(deployment(name));
      await clock.advance(1_000);
      await reportPods(client, clock.now());
      const leader = diary.writes.at(-1)?.manager;
      for (const each of managers)
        each.network = each.name === leader && turn % 2 === 0 ? "lost before the server" : "up";
    }
    await clock.advance(60_000);
    for (const each of managers) each.network = "up";
    await clock.advance(60_000);
    expect(await state()).toEqual(whole);
    expect(diary.overlaps).toEqual([]);
    expect(handovers(diary).length).toBeGreaterThanOrEqual(2);
  });

  it("a leader that is stopped gives its lease back, and the next takes over within seconds", async () => {
    const { clock, client, diary, manager, state } = await cluster();
    const first = manager("first");
    await clock.advance(1_000);
    manager("standby");
    await clock.advance(3_000);
    for (const name of names) await client.of(kinds.Deployment).create(deployment(name));
    const stopped = first.stop();
    await clock.advance(2 * RETRY_MS);
    await stopped;
    await reportPods(client, clock.now());
    await clock.advance(1_000);
    expect(await state()).toEqual(whole);
    expect(diary.overlaps).toEqual([]);
  });
});
