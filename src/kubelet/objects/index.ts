/** The whole public surface of objects. */
export { type PodEvents, podEvents } from "./pod-events.ts";
export { type PodObjects, podObjects, type WatchedPodObjects } from "./pod-objects.ts";
export { podReferences } from "./references.ts";
export { WatchedObjects } from "./watched-objects.ts";
