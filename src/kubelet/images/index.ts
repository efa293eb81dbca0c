/** The whole public surface of images. */
export {
  type CredentialProvidersOptions,
  credentialProviders,
  type ProviderCredentials,
} from "./credential-providers.ts";
export { ImageGc } from "./image-gc.ts";
export { type ImageMetrics, imageMetrics, sizeLabel } from "./image-metrics.ts";
export { parseImageName } from "./image-name.ts";
export { type ImagePuller, imagePuller, type PullRequest } from "./image-puller.ts";
export { credentialsOfServers, type NodeCredentials, nodeCredentials } from "./node-credentials.ts";
export { VERIFICATION_POLICIES, type Verification } from "./pull-access.ts";
export { type OngoingPull, type PullProgress, pullProgress } from "./pull-progress.ts";
export { type PullLimits, type PullQueue, pullQueue } from "./pull-queue.ts";
export { type ImageAccess, pullRecords } from "./pull-records.ts";
