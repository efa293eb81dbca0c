export { cacheMetrics } from "./cache-metrics.ts";
export { measuredStore } from "./measured-store.ts";
export { type MediaTypeStore, mediaTypeStore, STORAGE_MEDIA_TYPES, type StorageMediaType } from "./media-type-store.ts";
export type { StorageSettings } from "./settings.ts";
export { countObjects, measureStore } from "./store-metrics.ts";
