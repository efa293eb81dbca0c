/** The whole public surface of past. */
export { type AsOf, AT, asOf, demandRead, gone, type Past, refused, timeOf, withoutPrefix } from "./past.ts";
export { HISTORY_PATH, historyAnswer } from "./route.ts";
export { type Mark, Timeline } from "./timeline.ts";
