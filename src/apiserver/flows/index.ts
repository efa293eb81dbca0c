/** The API server's part in flows: it records requests, and serves the records. */
export { FLOWS_PATH, flowsForEveryone, SCHEDULING_PATH } from "./access.ts";
export { beginningOf } from "./beginning.ts";
export { Deliveries } from "./deliveries.ts";
export { flowObserver } from "./observer.ts";
export { answerFlows, type FlowsRoute } from "./route.ts";
