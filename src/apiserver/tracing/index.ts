/** The API server's spans. */
export { traceRequests, traceVerbs } from "./request-traces.ts";
export { tracedStore } from "./traced-store.ts";
