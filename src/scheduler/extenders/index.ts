/** Scheduler extenders over HTTP. */
export { type ExtenderContext, httpExtender } from "./http-extender.ts";
export { ExtenderError } from "./post-json.ts";
