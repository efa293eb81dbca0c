/** Where Pods come from besides the API, and what the API shows of them. */
export { CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE, ManifestError, podsOfManifest } from "./manifest.ts";
export { carryOutMirrors, isMirror, type MirrorPlan, mirrorPlan } from "./mirrors.ts";
export { StaticSources } from "./static-sources.ts";
