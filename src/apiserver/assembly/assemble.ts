/**
 * The API server without a port: the one place where its parts are put together. Phases, in order:
 *
 *     foundation ──► extensions, allocation ──► load ──► core ──► sync ──► front ──► pipeline
 *
 * 1. Allocators and custom resources subscribe before the caches load; authorization and admission read loaded caches.
 * 2. It answers only when its caches show everything that the store has.
 * 3. A phase that fails closes what the phases before it have opened.
 */

import type { Aggregation } from "../aggregation/index.ts";
import type { Allocators } from "../allocate/index.ts";
import { type CustomResources, customResources } from "../custom-resources/index.ts";
import { beginningOf, Deliveries, flowObserver, flowsForEveryone } from "../flows/index.ts";
import { heavyWrites } from "../heavy/index.ts";
import type { Handle } from "../http/exchange.ts";
import { impersonationMetrics } from "../impersonation/impersonation-metrics.ts";
import { Deadlines } from "../pipeline/deadlines.ts";
import { pipeline } from "../pipeline/pipeline.ts";
import { requestMetrics } from "../pipeline/request-metrics.ts";
import { FormerNamespaces } from "../rest/read/former-namespaces.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { nonResourceRoutes } from "../routes/routes.ts";
import { traceRequests, traceVerbs } from "../tracing/index.ts";
import { layFoundation } from "./foundation.ts";
import type { AuthorizationPart, Core, Foundation, Front, ServerParts, Surroundings } from "./parts.ts";
import { followPast } from "./past.ts";

/** The default of `--etcd-compaction-interval`: how long a state can be listed after it has changed. */
const LIST_WINDOW_MS = 5 * 60_000;

export interface AssembledServer<A extends AuthorizationPart, F extends Front> extends Core<A> {
  readonly front: F;
  /** The whole pipeline. */
  readonly handle: Handle;
  readonly allocation: Allocators | undefined;
  /** Ends everything, in reverse order. */
  close(): Promise<void>;
}

interface Extensions {
  readonly custom: CustomResources;
  readonly aggregated: Aggregation | undefined;
}

export async function assembleApiServer<A extends AuthorizationPart, F extends Front>(
  parts: ServerParts<A, F>,
): Promise<AssembledServer<A, F>> {
  await using closing = new AsyncDisposableStack();
  const stopping = new AbortController();
  closing.defer(() => stopping.abort());
  const foundation = layFoundation(parts, closing, stopping.signal);
  const extensions = await loadExtensions(foundation, parts.aggregation?.(foundation));
  const allocation = parts.allocation?.(foundation);
  const newest = await load(foundation, parts);
  const core = await completeCore(parts, foundation, extensions.custom, allocation);
  await sync(core, extensions, newest, parts.bootstrap);
  if (allocation !== undefined) core.background.run("service allocation repair", (signal) => allocation.repair(signal));
  const front = await parts.front(core);
  const handle = serving(parts, core, extensions, front);
  const closed = closing.move();
  return {
    ...core,
    closing: closed,
    front,
    handle,
    allocation,
    close: async () => {
      stopping.abort();
      await closed.disposeAsync();
    },
  };
}

/** Fills the caches. Returns the revision that the feed has to reach before they are up to date. */
async function load({ storage }: Foundation, { origin, resumableChanges }: Surroundings): Promise<number> {
  const { feed } = storage;
  if (origin !== undefined && (await feed.adopt(origin))) return feed.revision;
  return feed.load(resumableChanges);
}

/** Custom resources are known before the caches load, so that their instances are loaded with everything else. */
async function loadExtensions(foundation: Foundation, aggregated: Aggregation | undefined): Promise<Extensions> {
  const { discovery, openApi } = foundation.documents;
  const documents = aggregated === undefined ? [discovery, openApi] : [aggregated.documents];
  const custom = customResources({ ...foundation, documents });
  await custom.load(foundation.storage.store);
  return { custom, aggregated };
}

/** From here on the server can write, also through itself. */
async function completeCore<A extends AuthorizationPart>(
  parts: ServerParts<A, Front>,
  foundation: Foundation,
  custom: CustomResources,
  allocation: Allocators | undefined,
): Promise<Core<A>> {
  const { storage, background, loopback } = foundation;
  const past = followPast(storage.feed, storage.clock, parts.historyWindowMs, parts.recorder);
  const authorization = parts.authorization(foundation);
  const admission = await parts.admission(foundation, authorization.authorize);
  const deliveries = parts.recorder && new Deliveries(parts.recorder, () => storage.clock.now());
  const { listWindowMs = LIST_WINDOW_MS, deleteWorkers, garbageCollection } = parts.storageSettings ?? {};
  const revisionBefore = (ms: number) => past.timeline.at(storage.clock.now() - ms)?.revision ?? 0;
  const formerNamespaces = new FormerNamespaces(storage, foundation.resources);
  const context: ServerContext = {
    ...storage,
    admission: custom.guarding(admission),
    access: authorization.writeAccess,
    allocators: allocation?.byResource ?? new Map(),
    oldestListed: listWindowMs === 0 ? undefined : () => revisionBefore(listWindowMs),
    formerNamespaces,
    deleteWorkers,
    garbageCollection,
    deliveries: deliveries && ((user, agent) => deliveries.to(user, agent)),
  };
  loopback.connect(context);
  background.run("store feed", (signal) => storage.feed.run(signal));
  return { ...foundation, context, authorization, past, formerNamespaces };
}

/** Brings the server up to date with the store before the first request. */
async function sync(
  core: Core,
  { custom, aggregated }: Extensions,
  newest: number,
  bootstrap: ((core: Core) => Promise<void>) | undefined,
): Promise<void> {
  const { background, storage } = core;
  await storage.feed.reached(newest);
  await custom.sync();
  background.run("custom resources", (signal) => custom.run(signal));
  await bootstrap?.(core);
  if (aggregated === undefined) return;
  await aggregated.sync();
  background.run("aggregation", (signal) => aggregated.run(signal));
}

function serving(parts: Surroundings, core: Core, { custom, aggregated }: Extensions, front: Front): Handle {
  const { context, resources, documents, metrics, stopping, past, closing } = core;
  const { feed, clock, log } = context;
  const { recorder, tracer, requests } = parts;
  const deadlines = new Deadlines(clock);
  closing.defer(() => deadlines.close());
  const authorize = front.authorize ?? core.authorization.authorize;
  const revision = () => feed.revision;
  const heavy =
    parts.heavy &&
    heavyWrites({
      ...parts.heavy,
      storage: context,
      garbageCollection: context.garbageCollection,
      definitionOf: (resource) => custom.plainDefinition(resource),
    });
  closing.defer(() => heavy?.close());
  return pipeline({
    ...front,
    count: requestMetrics(
      metrics,
      clock,
      recorder && flowObserver({ recorder, revision, clock }),
      (...api) => resources.find(...api)?.kind.deprecated,
    ),
    trace: tracer && { requests: traceRequests(tracer), verbs: traceVerbs(tracer) },
    authorize: flowsForEveryone(authorize),
    impersonations: impersonationMetrics(metrics, clock),
    dispatch: {
      context,
      resources,
      stopping,
      appearing: custom.appearing,
      past: { ...past, authorize },
      connectors: front.connectors,
      heavy,
      watches: requests?.watches,
    },
    deadlines,
    requestTimeoutMs: requests?.timeoutMs,
    gate: requests?.gate?.step,
    browsers: { allowedOrigins: requests?.allowedOrigins, strictTransport: requests?.strictTransport },
    elsewhere: aggregated?.serve,
    nonResource: nonResourceRoutes({
      ...front.routes,
      context,
      documents,
      metrics,
      past,
      flows: recorder && {
        recorder,
        authorize,
        revision,
        clock,
        stopping,
        beginningOf: beginningOf(core.formerNamespaces, past),
      },
    }),
    clock,
    log,
  });
}
