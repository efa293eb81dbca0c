/** Where Pods come from besides the API, and what the API shows of them. */
export { carryOutMirrors, isMirror, type MirrorPlan, mirrorPlan } from "./mirrors.ts";
export { CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE } from "./static-pod.ts";
export { StaticSources } from "./static-sources.ts";
