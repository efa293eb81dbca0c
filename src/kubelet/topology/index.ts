/** The whole public surface of topology. */
export type { HintProvider, TopologyHint } from "./hints.ts";
