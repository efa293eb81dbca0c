/**
 * The API server of a test cluster: everything that a real one has, over a memory store, on virtual time, without a
 * port.
 *
 * 1. The same requests give the same answers each time, uids and timestamps included.
 * 2. An image is a state that never changes: store and caches, shared by all servers that begin with it. Taking one
 *    costs nothing that depends on the sizes of objects.
 */
import type { Features, Json, ServedApis } from "#api";
import { type Clock, type Logger, type MetricsRegistry, type Random, silentLogger } from "#base";
import type { InProcessHandle } from "#client";
import { Recorder } from "#flows";
import type { MemorySnapshot, MemoryStore, Store } from "#store";
import { openMemoryStore } from "#store";
import type { LocalExtensions } from "../../apiserver/aggregation/index.ts";
import { assembleApiServer } from "../../apiserver/assembly/assemble.ts";
import type { StoreFeed } from "../../apiserver/cache/feed.ts";
import { ResourceCache } from "../../apiserver/cache/resource-cache.ts";
import { SCHEDULING_PATH } from "../../apiserver/flows/index.ts";
import type { UserInfo } from "../../apiserver/identity/user.ts";
import type { ApiServerOptions as ServerParts } from "../../apiserver/server-options.ts";
import { serverParts } from "../../apiserver/server-parts.ts";
import { Shutdown } from "../../apiserver/shutdown.ts";
import { SchedulingAnswers, SchedulingReasons } from "../../cluster/reasons/scheduling-reasons.ts";

/** A state of a cluster. */
export interface Image {
  readonly state: MemorySnapshot;
  readonly caches: StoreFeed;
  /** The wall time. */
  readonly now: number;
}

export interface TestApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Default: an empty store, in which the server creates what every cluster has. */
  readonly image?: Image | undefined;
  readonly tokens: ReadonlyMap<string, UserInfo>;
  /** PEM of the cluster's authority. */
  readonly caPem: string;
  readonly extensions: LocalExtensions;
  /** What the server sees of its store. Default: the store itself. */
  readonly seen?: ((store: MemoryStore) => Store) | undefined;
  readonly metrics: MetricsRegistry;
  /** Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** Default: what a default server serves. */
  readonly apis?: ServedApis | undefined;
  readonly log?: Logger | undefined;
  /** Paths besides those of every API server. */
  readonly others?: ServerParts["others"];
}

export interface TestApiServer {
  readonly handle: InProcessHandle;
  readonly store: MemoryStore;
  readonly recorder: Recorder;
  readonly reasons: SchedulingReasons;
  readonly signToken: (claims: object) => Promise<string>;
  image(): Image;
  close(): Promise<void>;
}

const PLACE = { host: "127.0.0.1", port: 6443 };

export async function testApiServer(options: TestApiServerOptions): Promise<TestApiServer> {
  const { clock, random, image, tokens, caPem, extensions, metrics, log = silentLogger } = options;
  const { seen = (own) => own } = options;
  const store = openMemoryStore({ clock, ...(image !== undefined && { from: image.state }) });
  const recorder = new Recorder();
  const reasons = new SchedulingReasons();
  const answers = new SchedulingAnswers(reasons, clock);
  const parts = serverParts(
    {
      ...PLACE,
      // The certificate of nobody: clients in this process need none, others get tokens.
      certificate: { certPem: "", keyPem: "", clientCaPem: caPem },
      store: seen(store),
      sharedStore: false,
      recorder,
      others: { ...options.others, [SCHEDULING_PATH]: answers.answer },
      authentication: { tokens },
      admission: { enable: ["NodeRestriction"] },
      extensions,
      features: options.features,
      apis: options.apis,
      clock,
      random,
      log,
      metrics,
    },
    { ...PLACE, joined: true, shutdown: new Shutdown(undefined) },
  );
  const server = await assembleApiServer({
    ...parts,
    // A thread is not part of the simulation, and takes turns that nobody can repeat.
    heavy: undefined,
    newUid: () => uuid(random),
    origin: image?.caches,
    bootstrap: image === undefined ? parts.bootstrap : undefined,
  });
  const { feed } = server.context;
  return {
    handle: server.handle,
    store,
    recorder,
    reasons,
    signToken: (claims) => server.front.authn.issuer.sign(claims as { readonly [name: string]: Json }),
    image: () => ({
      state: store.snapshot(),
      caches: feed.frozen((cache) => (cache instanceof ResourceCache ? new ResourceCache(cache.prefix) : undefined)),
      now: clock.now(),
    }),
    async close() {
      await server.close();
      answers[Symbol.dispose]();
      await store.close();
    },
  };
}

function uuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
