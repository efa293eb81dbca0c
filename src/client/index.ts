/** The whole public surface of client. */
export { Client, type ClientOptions } from "./client.ts";
export { createUnlessThere } from "./create-unless-there.ts";
export { type DiscoveredResource, discoverResources } from "./discovery.ts";
export { type EventRecorder, eventRecorder, type RecordedEvent } from "./event-recorder.ts";
export { type HttpsConnection, https } from "./https.ts";
export { type InProcessHandle, type InProcessUser, inProcess } from "./in-process.ts";
export { type Handler, Informer, type InformerOptions } from "./informer/informer.ts";
export { Informers, type InformersOptions } from "./informer/informers.ts";
export { type Change, type Index, objectKey, type ReadonlyCache, revisionOf } from "./informer/object-cache.ts";
export { type LeaderElectionOptions, leadElected } from "./leader-election.ts";
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  Selectors,
  WatchOptions,
  WriteOptions,
} from "./options.ts";
export type { Patch } from "./patch.ts";
export { clusterWide, namespaced, type ResourceName, type ResourceOf } from "./resource.ts";
export type { Applied, List, ResourceClient, SubresourceClient } from "./resource-client.ts";
export type { Transport, TransportRequest, TransportResponse } from "./transport.ts";
export type { WatchEvent } from "./watch.ts";
export { WorkReporter, type WorkReporterOptions } from "./work-reporter.ts";
