/** The whole public surface of ingress. */
export { CLASS_NAME, CONTROLLER } from "./classes.ts";
export { type IngressOptions, runIngress } from "./run-ingress.ts";
