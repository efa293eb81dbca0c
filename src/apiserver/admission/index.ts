export { admissionChain, defaultPlugins } from "./chain.ts";
export type { AdmissionPlugin, ClusterView } from "./plugin.ts";
