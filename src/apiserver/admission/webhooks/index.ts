/** The whole public surface of webhooks. */
export { mutatingAdmissionWebhook } from "./mutating.ts";
export { validatingAdmissionWebhook } from "./validating.ts";
