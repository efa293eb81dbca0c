/** The API server's part in flows: requests are recorded as they pass, and can be asked for. */
export { answerFlows, FLOWS_PATH } from "./route.ts";
export { type FlowStepOptions, flowStep } from "./step.ts";
