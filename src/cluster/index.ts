export type { AdmissionFlags } from "./admission.ts";
export { type ApiServerConfig, type LoneApiServer, startLoneApiServer } from "./api-server.ts";
export type { AuthenticationFlags, RequestHeaderFlags } from "./authentication.ts";
export { type Cluster, CONTEXT_NAME, type Environment, type Step, startCluster } from "./cluster.ts";
export type { ClusterConfig, StoreConfig } from "./config.ts";
export { type DataDir, dataDir, defaultDataDir, eraseDataDir, isInUse, openDataDir, readMarker } from "./data-dir.ts";
export { ClusterError } from "./errors.ts";
export { findRunning, type Running, type RunState, readRunState } from "./run-state.ts";
