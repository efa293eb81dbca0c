/**
 * An API server in memory: the whole pipeline over a memory store, without a port, on virtual time and seeded chance.
 *
 * 1. The same requests give the same answers each time, uids and timestamps included.
 * 2. Time moves only by `clock.advance`; everything else happens in the turns that `settle` waits for.
 * 3. `close` ends the feed and every watch. A store that was passed in stays open.
 */
import { builtIn, type Kind } from "#api";
import { type Logger, MetricsRegistry, type Random, seededRandom, settled, silentLogger, VirtualClock } from "#base";
import { openMemoryStore, type Store } from "#store";
import { authenticator } from "../authn/authenticator.ts";
import type { UserInfo } from "../authn/user.ts";
import { mastersOnly } from "../authz/authorizer.ts";
import { StoreFeed } from "../cache/feed.ts";
import type { Dispatch } from "../dispatch.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { type Handle, type PipelineOptions, passThrough, pipeline } from "../pipeline.ts";
import { noAdmission } from "../rest/no-admission.ts";
import { STORE_PREFIX } from "../rest/resource.ts";
import { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { nonResourceRoutes } from "../routes.ts";
import { type RequestOptions, type TestAnswer, toAnswer, toRequest } from "./exchange.ts";
import { openWatch, type TestWatch, type TestWatchOptions } from "./test-watch.ts";

export const ADMIN: UserInfo = { name: "admin", groups: ["system:masters"] };

export interface TestServerOptions {
  /** One that other servers write to as well. Default: a memory store of its own. */
  readonly store?: Store;
  readonly clock?: VirtualClock;
  readonly seed?: number;
  readonly kinds?: readonly Kind[];
  readonly log?: Logger;
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  /** Made once there is something to look at; by default everything passes. */
  readonly admission?:
    | ServerContext["admission"]
    | ((resources: Resources, context: () => ServerContext) => ServerContext["admission"]);
  readonly connectors?: Dispatch["connectors"];
  /** Other steps of the pipeline than those that let everything pass. */
  readonly steps?: Partial<Pick<PipelineOptions, "audit" | "flowControl" | "authorize">>;
}

export interface TestServer {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly handle: Handle;
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
  /** Opens a watch; fails if the answer is not one. */
  watch(path: string, options?: TestWatchOptions): Promise<TestWatch>;
  /** Waits until nothing is left to do without time going on. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { clock = new VirtualClock(), kinds = builtIn, log = silentLogger, tokens = new Map() } = options;
  const store = options.store ?? openMemoryStore({ clock });
  const random = seededRandom(options.seed ?? 1);
  const stopping = new AbortController();
  const feed = new StoreFeed({ store, prefix: STORE_PREFIX, clock, log });
  const resources = new Resources(feed);
  for (const kind of kinds) resources.add(kind);
  await feed.load();
  const running = feed.run(stopping.signal);

  const context: ServerContext = {
    store,
    feed,
    clock,
    random,
    log,
    admission:
      typeof options.admission === "function"
        ? options.admission(resources, () => context)
        : (options.admission ?? noAdmission),
    allocators: new Map(),
    newUid: () => uuid(random),
    sharedStore: options.store !== undefined,
  };
  const connectors = options.connectors ?? { virtual: new Map(), subresources: new Map() };
  const handle = pipeline({
    authenticate: authenticator(tokens),
    audit: passThrough,
    flowControl: passThrough,
    authorize: mastersOnly,
    dispatch: { context, resources, stopping: stopping.signal, connectors },
    nonResource: nonResourceRoutes({ context, kinds, metrics: new MetricsRegistry(), health: {} }),
    log,
    ...options.steps,
  });
  const send = (request: ApiRequest) => handle(request);

  return {
    clock,
    store,
    context,
    resources,
    handle,
    request: async (method, path, about) => toAnswer(await send(toRequest(method, path, ADMIN, about))),
    watch: (path, about) => openWatch(send, path, ADMIN, about),
    settle: () => settled(),
    async close() {
      stopping.abort();
      await running;
      if (options.store === undefined) await store.close();
    },
  };
}

function uuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
