/** Shared by the controllers of Endpoints and EndpointSlices. */
export { addressesOf, familyOf, hostnameFor, type IpFamily, isReachable } from "./addresses.ts";
export { failureText } from "./failures.ts";
export { mattersToServices } from "./pod-changes.ts";
export { targetPort } from "./ports.ts";
export { type ServicesOf, servicesByPods } from "./selection.ts";
export { earliestTrigger, TRIGGER_TIME, withTriggerTime } from "./trigger-time.ts";
