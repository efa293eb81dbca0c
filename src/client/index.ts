/** The whole public surface of client. */

export { type EventRecorder, eventRecorder, type RecordedEvent } from "./event-recorder.ts";
export { type Handler, Informer, type InformerOptions } from "./informer/informer.ts";
export { Informers, type InformersOptions } from "./informer/informers.ts";
export { type Change, type Index, objectKey, type ReadonlyCache, revisionOf } from "./informer/object-cache.ts";
export { type LeaderElectionOptions, leadElected } from "./leader-election.ts";
export { Client, type ClientOptions } from "./requests/client.ts";
export { createUnlessThere } from "./requests/create-unless-there.ts";
export {
  type Discovered,
  type DiscoveredResource,
  discoverResources,
  repeatedDiscovery,
} from "./requests/discovery.ts";
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  Selectors,
  WatchOptions,
  WriteOptions,
} from "./requests/options.ts";
export type { Patch } from "./requests/patch.ts";
export { clusterWide, namespaced, type ResourceName, type ResourceOf } from "./requests/resource.ts";
export type { Applied, List, ResourceClient, SubresourceClient } from "./requests/resource-client.ts";
export type { WatchEvent } from "./requests/watch.ts";
export { type HttpsConnection, https } from "./transport/https.ts";
export { type InProcessHandle, type InProcessUser, inProcess } from "./transport/in-process.ts";
export { logged } from "./transport/logged.ts";
export { type ClientMetrics, clientMetrics } from "./transport/measured.ts";
export { traced } from "./transport/traced.ts";
export type { Transport, TransportRequest, TransportResponse } from "./transport/transport.ts";
export { WorkReporter, type WorkReporterOptions } from "./work-reporter.ts";
