/** The whole public surface of kubelet. */

export {
  CertificateRefusedError,
  type CertificateSpec,
  type ChangingTransport,
  changingTransport,
  requestCertificate,
} from "./certificates/index.ts";
export {
  configurationProblems,
  type Document as KubeletDocument,
  KUBELET_DEFAULTS,
  type KubeletConfig,
  kubeletConfiguration,
  parseKubeletConfiguration,
} from "./config/index.ts";
export * from "./cri/index.ts";
export * from "./fleet/index.ts";
export { type HostKubeletOptions, runHostKubelet } from "./host-kubelet.ts";
export { credentialsOfServers, type OngoingPull } from "./images/index.ts";
export { type KubeletOptions, runKubelet } from "./kubelet.ts";
export * from "./pod-status/index.ts";
export * from "./runtime/runtime.ts";
export { SERVED_PATHS } from "./server/index.ts";
export { type CsiMountRequest, type CsiVolumes, noCsi } from "./volumes/index.ts";
