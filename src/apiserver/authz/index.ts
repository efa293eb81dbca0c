export type { Attributes, Selectors } from "./attributes.ts";
export { NO_SELECTORS, RequestAttributes, resourceAttributes, reviewedAttributes } from "./attributes.ts";
export { type Authorization, type AuthorizationOptions, authorization } from "./authorization.ts";
export { type Authorizer, demand, denied, isAllowed } from "./authorizer.ts";
export { type AuthorizationFlags, DEFAULT_MODES, type ModeSpec, readAuthorization } from "./config.ts";
export { AuthorizationConfigError } from "./config-error.ts";
export type { Rules } from "./mode.ts";
export type { Verdict } from "./verdict.ts";
export { matchCondition } from "./webhook/match-condition.ts";
