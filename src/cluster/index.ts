export { type Cluster, startCluster } from "./cluster.ts";
export type { AdmissionFlags } from "./config/admission.ts";
export type { AuthenticationFlags, RequestHeaderFlags } from "./config/authentication.ts";
export type {
  ClusterConfig,
  Environment,
  FlowRecording,
  HostPort,
  InitialObjects,
  ListenConfig,
  ManagedEtcd,
  NodeOwn,
  NodesConfig,
  RealNodesConfig,
  Step,
  StoreConfig,
} from "./config/cluster-config.ts";
export { ClusterError } from "./config/errors.ts";
export { featureNotes, readFeatures } from "./config/features.ts";
export type { ServingSettings } from "./config/serving.ts";
export { type TlsFlags, tlsSettings } from "./config/tls-settings.ts";
export {
  clusterNameProblem,
  contextName,
  DEFAULT_CLUSTER,
  dataDirAt,
  homeDir,
  listClusters,
  namedDataDir,
} from "./data/cluster-names.ts";
export {
  commandFor,
  type DataDir,
  eraseDataDir,
  isInUse,
  openDataDir,
  prepareDataDir,
  readMarker,
  writeFileAtomic,
} from "./data/data-dir.ts";
export { removeContext } from "./data/kubeconfigs.ts";
export {
  findRunning,
  type LastStart,
  type Running,
  type RunState,
  readLastStart,
  readRunState,
} from "./data/run-state.ts";
export { embeddedMember, type StoreMember, type StoreMembers } from "./data/store-members.ts";
export { readStoreRecord, writeStoreRecord } from "./data/store-record.ts";
export type { LeadershipTimes } from "./in-process/coordinated-elections.ts";
export {
  type BootstrapToken,
  caHash,
  DEFAULT_TTL_MS,
  groupProblem,
  isCaHash,
  type JoinRecord,
  type JoinRequest,
  joinCommand,
  newToken,
  parseToken,
  REMOVED,
  readJoinRecord,
  readToken,
  TOKEN_GROUP,
  TOKEN_NAMESPACE,
  TOKEN_TYPE,
  TOKEN_USAGES,
  type TokenUsage,
  tokenSecret,
  tokenText,
  type Worker,
  type WorkerConfig,
} from "./machines/index.ts";
export { controlPlaneTools, endNodes, etcdTools, imageTools, nodeTools, workerTools } from "./node-tools.ts";
export type { Finding, NodeRecord, NodeRun, OpenDoor, Publication, Wanted } from "./nodes/index.ts";
export { runEtcdStandIn, type StandInConfig } from "./stand-in/etcd-stand-in.ts";
export { type ApiServerConfig, type StandaloneApiServer, startStandaloneApiServer } from "./standalone/api-server.ts";
export {
  runStandaloneCloudControllerManager,
  type StandaloneCloudConfig,
} from "./standalone/cloud-controller-manager.ts";
export {
  type Component,
  type ComponentConfig,
  type ElectionConfig,
  runComponent,
  type Work,
} from "./standalone/component.ts";
export type { ComponentServing } from "./standalone/component-server.ts";
export {
  runStandaloneControllerManager,
  type SigningPair,
  type StandaloneControllerManagerConfig,
} from "./standalone/controller-manager.ts";
export { runStandaloneSidecars, type StandaloneSidecarsConfig } from "./standalone/csi-sidecars.ts";
export { runStandaloneMetricsAdapter, type StandaloneMetricsAdapterConfig } from "./standalone/metrics-adapter.ts";
export { runStandaloneMetricsServer, type StandaloneMetricsServerConfig } from "./standalone/metrics-server.ts";
export {
  runStandaloneDns,
  runStandaloneProxy,
  type StandaloneDnsConfig,
  type StandaloneProxyConfig,
} from "./standalone/proxy.ts";
export type { ListenAddress } from "./standalone/proxy-server.ts";
export { type RegistryPlace, runStandaloneRegistry, type StandaloneRegistryConfig } from "./standalone/registry.ts";
export { runStandaloneScheduler, type StandaloneSchedulerConfig } from "./standalone/scheduler.ts";
