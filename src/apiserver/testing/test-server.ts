/**
 * An API server in memory: the assembled server over a memory store, without a port, on virtual time and seeded chance.
 *
 * 1. The same requests give the same answers each time, uids and timestamps included.
 * 2. Time moves only by `clock.advance`; everything else happens in the turns that `settle` waits for.
 * 3. `close` ends the feed and every watch. A store that was passed in stays open.
 */
import { builtIn, type Features, type Kind } from "#api";
import {
  type Logger,
  MetricsRegistry,
  type Random,
  realClock,
  seededRandom,
  settled,
  silentLogger,
  VirtualClock,
} from "#base";
import type { Recorder } from "#flows";
import { openMemoryStore, type Store } from "#store";
import type { Tracer } from "#tracing";
import type { PluginServices } from "../admission/index.ts";
import { aggregation, type LocalExtensions } from "../aggregation/index.ts";
import { assembleApiServer } from "../assembly/assemble.ts";
import type { AuthorizationPart, Foundation, Front, RequestSettings } from "../assembly/parts.ts";
import { authenticator } from "../authn/authenticator.ts";
import { CertificateAuthorities, clientCertificates } from "../authn/certificates.ts";
import { staticTokens } from "../authn/token-file.ts";
import { authorization, type ModeSpec } from "../authz/index.ts";
import { nodeRules } from "../bootstrap/index.ts";
import type { Connectors } from "../connect/index.ts";
import type { HeavyOptions } from "../heavy/index.ts";
import type { Handle } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";
import { passThrough } from "../pipeline/compose.ts";
import { allWrites } from "../rest/all-writes.ts";
import { noAdmission } from "../rest/no-admission.ts";
import type { Resources } from "../rest/resources.ts";
import type { Admission, ServerContext } from "../rest/server-context.ts";
import type { StorageSettings } from "../storage/index.ts";
import { inStep, type ServingThread } from "../threads/index.ts";
import { type RequestOptions, type TestAnswer, toAnswer, toRequest } from "./exchange.ts";
import { mastersOnly } from "./masters-only.ts";
import { openWatch, type TestWatch, type TestWatchOptions } from "./test-watch.ts";

const TEN_MINUTES_MS = 10 * 60_000;

export const ADMIN: UserInfo = { name: "admin", groups: ["system:masters"] };

export interface TestServerOptions {
  /** A store that other servers share. Default: a memory store of its own. */
  readonly store?: Store | undefined;
  /** It is one of several threads over that store. */
  readonly thread?: ServingThread | undefined;
  /** Whether a value in the store should be written again; see StorageContext. */
  readonly isOutdated?: ((key: string) => boolean) | undefined;
  readonly clock?: VirtualClock | undefined;
  readonly seed?: number | undefined;
  readonly kinds?: readonly Kind[] | undefined;
  readonly log?: Logger | undefined;
  readonly tokens?: ReadonlyMap<string, UserInfo> | undefined;
  /** PEM: the authority of client certificates, which are checked by the real time. */
  readonly clientCa?: string | undefined;
  /** By default everything passes. */
  readonly admission?: Admission | ((services: TestServices) => Admission | Promise<Admission>) | undefined;
  readonly connectors?: Connectors | ((context: ServerContext, resources: Resources) => Connectors) | undefined;
  /**
   * Authorization modes. Default: system:masters may do everything, others nearly nothing, and writes are not guarded.
   */
  readonly modes?: readonly ModeSpec[] | undefined;
  /** Aggregation, with these extension servers. Default: there is none. */
  readonly extensions?: LocalExtensions | undefined;
  /** Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** Records what happens. Default: nothing is recorded. */
  readonly recorder?: Recorder | undefined;
  /** Traces requests. Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Large writes run in a thread of their own. Default: in the test's. */
  readonly heavy?: HeavyOptions | undefined;
  /** How the store is used. */
  readonly storageSettings?: StorageSettings | undefined;
  /** How requests are served. Default: as by a server without options. */
  readonly requests?: RequestSettings | undefined;
  /** Steps of the pipeline in place of those that let everything pass. */
  readonly steps?: Steps | ((context: ServerContext, resources: Resources) => Steps | Promise<Steps>) | undefined;
}

/** What admission plugins are made with. */
export type TestServices = Pick<PluginServices, "resources" | "storage" | "loopback">;

type Steps = Partial<Pick<Front, "audit" | "turnedAway" | "fairness" | "authorize">>;

export interface TestServer {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly handle: Handle;
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
  /** Opens a watch; fails if the answer is not one. */
  watch(path: string, options?: TestWatchOptions): Promise<TestWatch>;
  /** Waits until nothing is left to do unless time advances. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { thread } = options;
  const { clock = new VirtualClock(), kinds = builtIn, log = silentLogger, admission = noAdmission } = options;
  const store = options.store ?? openMemoryStore({ clock });
  const random = seededRandom(options.seed ?? 1);
  const server = await assembleApiServer({
    store,
    sharedStore: options.store !== undefined,
    newest: thread?.newest,
    isOutdated: options.isOutdated,
    clock,
    random,
    log,
    metrics: new MetricsRegistry(),
    newUid: () => uuid(random),
    kinds,
    features: options.features,
    resumableChanges: 0,
    recorder: options.recorder,
    tracer: options.tracer,
    heavy: options.heavy,
    storageSettings: options.storageSettings,
    requests: options.requests,
    historyWindowMs: TEN_MINUTES_MS,
    aggregation:
      options.extensions &&
      ((foundation) => aggregation({ ...foundation, kinds, identity: () => undefined, local: options.extensions })),
    authorization: (foundation) => authorizationPart(foundation, options.modes),
    admission: (foundation) => (typeof admission === "function" ? admission(foundation) : admission),
    front: ({ context, resources }) => front(options, context, resources),
  });
  const { context, resources } = server;
  const handle =
    thread === undefined ? server.handle : inStep(server.handle, { thread, feed: context.feed, clock: realClock() });
  return {
    clock,
    store,
    context,
    resources,
    handle,
    request: async (method, path, about) => toAnswer(await handle(toRequest(method, path, ADMIN, about))),
    watch: (path, about) => openWatch(handle, path, ADMIN, about),
    settle: () => settled(),
    async close() {
      await server.close();
      if (options.store === undefined) await store.close();
    },
  };
}

function authorizationPart(foundation: Foundation, modes: readonly ModeSpec[] | undefined): AuthorizationPart {
  if (modes === undefined) return { authorize: mastersOnly, writeAccess: allWrites };
  const { storage, resources, metrics, closing } = foundation;
  const made = authorization({ ...storage, resources, nodeRules: nodeRules(), metrics, modes });
  closing.defer(() => made.close());
  return made;
}

async function front(
  { tokens = new Map(), clientCa = "", connectors, steps }: TestServerOptions,
  context: ServerContext,
  resources: Resources,
): Promise<Front> {
  return {
    authenticate: authenticator({
      tokens: staticTokens(tokens),
      certificates: clientCertificates(new CertificateAuthorities(clientCa, realClock())),
    }),
    audit: passThrough,
    fairness: passThrough,
    connectors:
      typeof connectors === "function"
        ? connectors(context, resources)
        : (connectors ?? { virtual: new Map(), subresources: new Map() }),
    routes: { health: {} },
    ...(typeof steps === "function" ? await steps(context, resources) : steps),
  };
}

function uuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
