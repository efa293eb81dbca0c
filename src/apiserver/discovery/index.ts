export { type Encoding, NOT_ACCEPTABLE, negotiate, parseAccept, type Wanted } from "./accept.ts";
export { Discovery, type DiscoveryAnswer, type DiscoveryOptions, rootPaths } from "./discovery.ts";
export { PreparedDocument } from "./prepared-document.ts";
export { compareVersionNames, defaultPriority, type Priority } from "./priority.ts";
export { type RemoteVersion, type ServedVersion, servedVersions } from "./served-version.ts";
