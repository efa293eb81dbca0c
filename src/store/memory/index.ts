/** The whole public surface of the memory backend. */

export { openMemoryStore, restoreMemoryStore } from "./open.ts";
export type { MemorySnapshot } from "./state.ts";
export { type MemoryOptions, MemoryStore } from "./store.ts";
