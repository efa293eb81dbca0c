/** The whole public surface of overlay. */
export type { OverlayMode } from "./plan.ts";
export { runOverlay } from "./run-overlay.ts";
