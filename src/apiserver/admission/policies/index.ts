/** The whole public surface of policies. */
export { mutatingAdmissionPolicy } from "./mutating.ts";
export { validatingAdmissionPolicy } from "./validating.ts";
