export { describeStore } from "./contract.ts";
export { Model } from "./model.ts";
export { type Step, steps, storeProperty } from "./property.ts";
export type { StoreHarness } from "./subject.ts";
export { WatchReader } from "./watch-reader.ts";
