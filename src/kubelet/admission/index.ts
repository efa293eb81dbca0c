/** The whole public surface of admission. */
export { admitPod, admitResize } from "./admission.ts";
export * from "./resize.ts";
