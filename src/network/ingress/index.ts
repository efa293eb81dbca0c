/** Ingresses served over HTTP: see README. */
export { CLASS_NAME, CONTROLLER } from "./classes.ts";
export { type IngressOptions, runIngress } from "./run-ingress.ts";
