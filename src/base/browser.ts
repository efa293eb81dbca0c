/** The surface of base in a browser, without Node's modules. Everywhere else `#base` is index.ts. */
export { LruMap } from "./collections/lru-map.ts";
export { MemoMap, memoized } from "./collections/memo-map.ts";
export { table } from "./collections/table.ts";
export type { MetricsRegistry } from "./metrics/metrics.ts";
export type { Random } from "./system/random.ts";
