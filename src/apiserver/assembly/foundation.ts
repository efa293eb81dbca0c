/** The first phase of a server: its store, the caches over it, and the resources that are part of it. */
import {
  type DropFields,
  defaultFeatures,
  disabledFields,
  type Features,
  type Kind,
  keyOf,
  registerFeatureMetrics,
  shownAt,
} from "#api";
import { TaskGroup } from "#base";
import { StoreFeed } from "../cache/feed.ts";
import { Loopback } from "../loopback/loopback.ts";
import { RestMetrics } from "../rest/metrics.ts";
import { STORE_PREFIX } from "../rest/resource.ts";
import { Resources } from "../rest/resources.ts";
import { apiDocuments } from "../routes/api-documents.ts";
import { registerVersionMetrics } from "../routes/version.ts";
import { cacheMetrics } from "../storage/index.ts";
import { tracedStore } from "../tracing/index.ts";
import type { Foundation, Surroundings } from "./parts.ts";

export function layFoundation(parts: Surroundings, closing: AsyncDisposableStack, stopping: AbortSignal): Foundation {
  const { sharedStore, isOutdated, clock, random, log, metrics, kinds, features = defaultFeatures, tracer } = parts;
  const store = tracer === undefined ? parts.store : tracedStore(parts.store, tracer, sharedStore);
  const background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
  closing.use(background);
  registerFeatureMetrics(metrics, features);
  registerVersionMetrics(metrics, features);
  const feed = new StoreFeed({ store, prefix: STORE_PREFIX, clock, log });
  const resources = new Resources(feed);
  for (const kind of kinds) resources.add(kind);
  closing.defer(cacheMetrics(metrics, resources));
  return {
    storage: {
      store,
      feed,
      clock,
      random,
      log,
      features,
      disabledFields: byKind(features),
      newUid: () => parts.newUid(),
      sharedStore,
      newest: parts.newest,
      restMetrics: new RestMetrics(metrics, clock),
      isOutdated,
      tracer,
      egress: parts.egress,
    },
    resources,
    documents: apiDocuments(shownAt(kinds, features.emulated), features.enabled("CBORServingAndStorage")),
    loopback: new Loopback(),
    metrics,
    background,
    closing,
    stopping,
  };
}

/** Compiled on the first write of a kind. */
function byKind(features: Features): (kind: Kind) => DropFields | undefined {
  const known = new WeakMap<Kind, DropFields | undefined>();
  return (kind) => {
    if (known.has(kind)) return known.get(kind);
    const drop = disabledFields(features, keyOf(kind));
    known.set(kind, drop);
    return drop;
  };
}
