/** The whole public surface of the embedded backend. */

export { type EmbeddedOptions, openEmbeddedStore } from "./open.ts";
export { restoreEmbeddedStore } from "./restore.ts";
