/**
 * An API server stops while clients watch, over loopback: two servers on one store, behind the balancer of a node.
 *
 *     reflectors, informers ──► balancer ──► server a, which stops
 *                                       └──► server b
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type ClientHttp2Session, connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { type ApiServer, startApiServer } from "#apiserver";
import { MetricsRegistry, realClock, seededRandom, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, https, Informer } from "#client";
import { readyzCheck } from "#network";
import { type ClusterPki, ensureClusterPki } from "#pki";
import { openStore, type Store } from "#store";
import { Balancer } from "../../network/balancer/balancer.ts";

const WATCHERS = 20;
const PATH = "/api/v1/namespaces/default/configmaps";
const clock = realClock();
const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Counts what reads all objects: nothing that is answered from a cache does. */
function counted(store: Store): { store: Store; lists: () => number } {
  let lists = 0;
  const list: Store["list"] = (...args) => {
    if (!String(args[0]).includes("masterleases")) lists++;
    return store.list(...args);
  };
  const own = new Proxy(store, {
    get: (target, name) => {
      if (name === "list") return list;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { store: own, lists: () => lists };
}

async function startServer(pki: ClusterPki, store: Store): Promise<ApiServer> {
  const server = await startApiServer({
    ...{ host: "127.0.0.1", port: 0, store, sharedStore: true },
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    ...{ clock, random: systemRandom(), log: silentLogger, metrics: new MetricsRegistry() },
  });
  closing.push(() => server.stop());
  return server;
}

/** Each event that a watcher saw, and each request that it made after the first ones. */
interface Seen {
  readonly events: string[];
  readonly requests: string[];
  resumedMs: number | undefined;
}

/**
 * As the reflector of client-go: lists, watches from there, and watches again from its last resourceVersion when the
 * watch has ended. After an error that it does not know it lists again.
 */
async function reflect(server: string, pki: ClusterPki, seen: Seen, signal: AbortSignal): Promise<void> {
  const session = new Sessions(server, pki);
  signal.addEventListener("abort", () => session.close(), { once: true });
  let resourceVersion: string | undefined;
  while (!signal.aborted) {
    try {
      if (resourceVersion === undefined) {
        seen.requests.push("list");
        const list = JSON.parse((await Array.fromAsync(await session.get(PATH))).join(""));
        resourceVersion = list.metadata.resourceVersion as string;
      }
      seen.requests.push(`watch ${resourceVersion}`);
      const query = `?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}&timeoutSeconds=500`;
      const stream = await session.get(PATH + query);
      seen.resumedMs = performance.now();
      let text = "";
      for await (const part of stream) {
        const lines = (text + part).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) {
          const { type, object } = JSON.parse(line);
          if (type === "ERROR") throw new Error(object.message);
          resourceVersion = object.metadata.resourceVersion;
          if (type !== "BOOKMARK") seen.events.push(`${type} ${object.metadata.name}`);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      seen.requests.push(`failed: ${String(error)}`);
      if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") resourceVersion = undefined;
    }
  }
}

/** One connection at a time, and another after GOAWAY. */
class Sessions {
  readonly #server: string;
  readonly #pki: ClusterPki;
  readonly #all: ClientHttp2Session[] = [];
  #current: ClientHttp2Session | undefined;

  constructor(server: string, pki: ClusterPki) {
    this.#server = server;
    this.#pki = pki;
  }

  async get(path: string): Promise<AsyncIterable<string>> {
    const stream = this.#session().request({ ":path": path });
    const [headers] = await once(stream, "response");
    if (headers[":status"] !== 200) throw new Error(`status ${headers[":status"]}`);
    return stream.setEncoding("utf8") as AsyncIterable<string>;
  }

  close(): void {
    for (const session of this.#all) session.destroy();
  }

  #session(): ClientHttp2Session {
    if (this.#current !== undefined) return this.#current;
    const { ca, admin } = this.#pki;
    const session = connect(this.#server, { ca: ca.certPem, cert: admin.certPem, key: admin.keyPem });
    const gone = () => {
      if (this.#current === session) this.#current = undefined;
    };
    session.on("error", gone);
    session.once("goaway", gone);
    session.once("close", gone);
    this.#all.push(session);
    this.#current = session;
    return session;
  }
}

it("a server that stops hands its watches over: nobody lists again, no event is lost or doubled", async () => {
  const dir = await mkdtemp(join(tmpdir(), "k8ts-handover-"));
  closing.push(() => rm(dir, { recursive: true, force: true }));
  const pki = await ensureClusterPki(dir, { clock, serverNames: { dnsNames: [], ipAddresses: ["127.0.0.1"] } });
  const shared = await openStore({ kind: "memory", clock });
  closing.push(() => shared.close());
  const second = counted(shared);
  const [a, b] = [await startServer(pki, shared), await startServer(pki, second.store)];
  const tasks = new TaskGroup();
  closing.push(() => tasks.stop());
  const connection = (port: number) => ({ server: `https://127.0.0.1:${port}`, caPem: pki.ca.certPem, ...pki.admin });
  const clientOf = (port: number) => {
    const client = new Client({ transport: https(connection(port), { clock }), clock });
    closing.push(() => client.close());
    return client;
  };
  const balancer = await Balancer.open({
    ...{ host: "127.0.0.1", port: 0, members: [a, b].map((server) => `127.0.0.1:${server.port}`) },
    check: readyzCheck({ caPem: pki.ca.certPem, clock }),
    ...{ clock, random: seededRandom(1), log: silentLogger },
  });
  closing.push(() => balancer.close());
  const { port } = balancer;
  tasks.run("balancer", (signal) => balancer.run(signal));

  const reflected: Seen[] = Array.from({ length: WATCHERS }, () => ({
    events: [],
    requests: [],
    resumedMs: undefined,
  }));
  for (const seen of reflected)
    tasks.run("reflector", (signal) => reflect(`https://127.0.0.1:${port}`, pki, seen, signal));
  const informed: { told: string[]; targets: string[] }[] = [];
  /** When informers sent their requests. */
  const sentMs: number[] = [];
  for (let each = 0; each < WATCHERS; each++) {
    const [told, targets]: [string[], string[]] = [[], []];
    const transport = https(connection(port), { clock });
    const noted = {
      send: (request: Parameters<typeof transport.send>[0]) => {
        targets.push(request.target);
        sentMs.push(performance.now());
        return transport.send(request);
      },
      close: () => transport.close(),
    };
    const client = new Client({ transport: noted, clock });
    closing.push(() => client.close());
    const informer = new Informer<core.ConfigMap>({
      client: client.of(kinds.ConfigMap).in("default"),
      ...{ clock, random: seededRandom(each), log: silentLogger },
    });
    informer.onChange(({ type, object }) => told.push(`${type} ${object.metadata.name}`));
    tasks.run("informer", (signal) => informer.run(signal));
    await informer.synced;
    informed.push({ told, targets });
  }
  await expect.poll(() => reflected.every(({ resumedMs }) => resumedMs !== undefined)).toBe(true);

  const writer = clientOf(b.port).of(kinds.ConfigMap).in("default");
  const names: string[] = [];
  const write = async (count: number) => {
    for (let each = 0; each < count; each++) {
      const name = `event-${String(names.length).padStart(4, "0")}`;
      await writer.create({ metadata: { name } });
      names.push(name);
    }
  };
  await write(50);
  const before = {
    reflected: reflected.map(({ requests }) => requests.length),
    informed: informed.map(({ targets }) => targets.length),
    lists: second.lists(),
  };
  const moved = () => reflected.filter(({ requests }, at) => requests.length > (before.reflected[at] ?? 0));
  const stopMs = performance.now();
  const stopped = a.stop();
  while (performance.now() - stopMs < 600) await write(5);
  await stopped;
  await write(50);

  const wanted = (verb: string) => names.map((name) => `${verb} ${name}`);
  const own = (events: readonly string[]) => events.filter((event) => event.includes("event-"));
  await expect
    .poll(() => [...reflected.map(({ events }) => own(events)), ...informed.map(({ told }) => own(told))], {
      timeout: 10_000,
    })
    .toEqual([
      ...reflected.map(() => wanted("ADDED")), //
      ...informed.map(() => wanted("added")),
    ]);
  // About half of them were on the server that stopped. Each went on by one watch from where it was.
  expect(moved().length).toBeGreaterThan(WATCHERS / 4);
  const since = reflected.flatMap(({ requests }, at) => requests.slice(before.reflected[at]));
  expect(since.filter((request) => !/^watch \d+$/.test(request))).toEqual([]);
  expect(since).toHaveLength(moved().length);
  const targets = informed.flatMap(({ targets }, at) => targets.slice(before.informed[at]));
  expect(targets.length).toBeGreaterThan(WATCHERS / 4);
  expect(targets.filter((target) => !/[?&]watch=/.test(target) || target.includes("sendInitialEvents"))).toEqual([]);
  // The other server answered from its cache.
  expect(second.lists()).toBe(before.lists);
  // They came one after the other.
  const times = [...moved().map(({ resumedMs = 0 }) => resumedMs), ...sentMs.filter((ms) => ms > stopMs)];
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(150);
}, 30_000);
