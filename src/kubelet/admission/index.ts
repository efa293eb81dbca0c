/** The whole public surface of admission. */
export { type AdmissionFacts, admitPod, admitResize } from "./admission.ts";
export * from "./resize.ts";
export { Usage } from "./usage.ts";
