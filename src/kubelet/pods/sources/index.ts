/** Static Pods and their mirror Pods. */
export { carryOutMirrors, isMirror, type MirrorPlan, mirrorPlan } from "./mirrors.ts";
export { CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE } from "./static-pod.ts";
export { StaticSources } from "./static-sources.ts";
