/** Extenders: schedulers beside this one, asked over HTTP. */
export { type ExtenderContext, httpExtender } from "./http-extender.ts";
export { ExtenderError } from "./post-json.ts";
