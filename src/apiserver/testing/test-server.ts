/**
 * An API server in memory: the whole pipeline over a memory store, without a port, on virtual time and seeded chance.
 *
 * 1. The same requests give the same answers each time, uids and timestamps included.
 * 2. Time moves only by `clock.advance`; everything else happens in the turns that `settle` waits for.
 * 3. `close` ends the feed and every watch. A store that was passed in stays open.
 */
import { builtIn, type Kind } from "#api";
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
import { authenticator } from "../authn/authenticator.ts";
import { CertificateAuthorities, clientCertificates } from "../authn/certificates.ts";
import { staticTokens } from "../authn/token-file.ts";
import { authorization, type ModeSpec } from "../authz/index.ts";
import { nodeRules } from "../bootstrap/index.ts";
import { StoreFeed } from "../cache/feed.ts";
import { customResources } from "../custom-resources/index.ts";
import { Deliveries, flowObserver, flowsForEveryone } from "../flows/index.ts";
import type { ApiRequest, Handle } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";
import { type Past, Timeline } from "../past/index.ts";
import { passThrough } from "../pipeline/compose.ts";
import type { Dispatch } from "../pipeline/dispatch.ts";
import { type PipelineOptions, pipeline } from "../pipeline/pipeline.ts";
import { requestMetrics } from "../pipeline/request-metrics.ts";
import { allWrites } from "../rest/all-writes.ts";
import { noAdmission } from "../rest/no-admission.ts";
import { STORE_PREFIX } from "../rest/resource.ts";
import { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { apiDocuments } from "../routes/api-documents.ts";
import { nonResourceRoutes } from "../routes/routes.ts";
import { type RequestOptions, type TestAnswer, toAnswer, toRequest } from "./exchange.ts";
import { mastersOnly } from "./masters-only.ts";
import { openWatch, type TestWatch, type TestWatchOptions } from "./test-watch.ts";

const TEN_MINUTES_MS = 10 * 60_000;

export const ADMIN: UserInfo = { name: "admin", groups: ["system:masters"] };

export interface TestServerOptions {
  /** One that other servers write to as well. Default: a memory store of its own. */
  readonly store?: Store;
  /** Whether a value in the store should be written again; see ServerContext. */
  readonly isOutdated?: (key: string) => boolean;
  readonly clock?: VirtualClock;
  readonly seed?: number;
  readonly kinds?: readonly Kind[];
  readonly log?: Logger;
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  /** PEM: who signs the certificates of clients that come over a connection. They count by the time of the machine, as those connections do. */
  readonly clientCa?: string;
  /** Made once there is something to look at; by default everything passes. */
  readonly admission?:
    | ServerContext["admission"]
    | ((resources: Resources, context: () => ServerContext) => ServerContext["admission"]);
  readonly connectors?: Dispatch["connectors"];
  /** The modes to authorize by. Default: system:masters may do everything, others nearly nothing, and no write is guarded. */
  readonly modes?: readonly ModeSpec[];
  /** Keeps what happens. Default: nothing is kept. */
  readonly recorder?: Recorder;
  /** Other steps of the pipeline than those that let everything pass; made once there is something to look at. */
  readonly steps?: Steps | ((context: ServerContext, resources: Resources) => Steps | Promise<Steps>);
}

type Steps = Partial<Pick<PipelineOptions, "audit" | "turnedAway" | "fairness" | "authorize">>;

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
  const documents = apiDocuments(kinds);
  const surroundings = { clock, random, log, newUid: () => uuid(random) };
  const custom = customResources({
    context: () => context,
    surroundings,
    resources,
    documents: Object.values(documents),
  });
  await custom.load(store);
  await feed.load();
  const running = [feed.run(stopping.signal)];

  const { modes } = options;
  const parts = { resources, feed, nodeRules: nodeRules(), metrics: new MetricsRegistry(), clock, random, log };
  const authz = modes && authorization({ ...parts, modes });
  const deliveries = options.recorder && new Deliveries(options.recorder, () => clock.now());
  const context: ServerContext = {
    store,
    feed,
    clock,
    random,
    log,
    admission: custom.guarding(
      typeof options.admission === "function"
        ? options.admission(resources, () => context)
        : (options.admission ?? noAdmission),
    ),
    access: authz?.writeAccess ?? allWrites,
    allocators: new Map(),
    newUid: surroundings.newUid,
    sharedStore: options.store !== undefined,
    ...(deliveries !== undefined && { deliveries: (user, agent) => deliveries.to(user, agent) }),
    ...(options.isOutdated !== undefined && { isOutdated: options.isOutdated }),
  };
  let appearing: Dispatch["appearing"] = async () => {};
  if (kinds.some(({ kind }) => kind === "CustomResourceDefinition")) {
    appearing = custom.appearing;
    await custom.sync();
    running.push(custom.run(stopping.signal));
  }
  const connectors = options.connectors ?? { virtual: new Map(), subresources: new Map() };
  const steps = typeof options.steps === "function" ? await options.steps(context, resources) : options.steps;
  const timeline = new Timeline(TEN_MINUTES_MS);
  timeline.note(feed.revision, clock.now());
  feed.advanced = (revision) => timeline.note(revision, clock.now());
  const past: Past = { timeline, windowMs: TEN_MINUTES_MS };
  const authorize = authz?.authorize ?? mastersOnly;
  const { recorder } = options;
  const handle = pipeline({
    authenticate: authenticator({
      tokens: staticTokens(tokens),
      certificates: clientCertificates(new CertificateAuthorities(options.clientCa ?? "", realClock())),
    }),
    count: requestMetrics(
      parts.metrics,
      clock,
      recorder && flowObserver({ recorder, revision: () => feed.revision, clock }),
    ),
    audit: passThrough,
    fairness: passThrough,
    authorize: flowsForEveryone(authorize),
    dispatch: { context, resources, stopping: stopping.signal, appearing, connectors, past },
    nonResource: nonResourceRoutes({
      context,
      documents,
      metrics: new MetricsRegistry(),
      health: {},
      past,
      ...(recorder !== undefined && {
        flows: { recorder, authorize, revision: () => feed.revision, clock, stopping: stopping.signal },
      }),
    }),
    log,
    ...steps,
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
      authz?.close();
      await Promise.all(running);
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
