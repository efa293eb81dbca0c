/** What decides about images on a node of this machine: credentials, access, limits; and how far pulls are. */
import { defaultFeatures, type Features } from "#api";
import type { Clock, Logger } from "#base";
import type { Client } from "#client";
import type { KubeletConfig } from "./config/index.ts";
import {
  credentialProviders,
  type ImageAccess,
  type NodeCredentials,
  nodeCredentials,
  type ProviderCredentials,
  type PullProgress,
  type PullQueue,
  pullProgress,
  pullQueue,
  pullRecords,
} from "./images/index.ts";
import type { Runtime } from "./runtime/runtime.ts";

export interface NodeImages {
  readonly nodeCredentials: NodeCredentials;
  readonly providers: ProviderCredentials | undefined;
  /** Undefined: every Pod may use every image that is there. */
  readonly access: ImageAccess | undefined;
  readonly queue: PullQueue;
  readonly progress: PullProgress;
}

export interface NodeImagesOptions {
  readonly config: KubeletConfig;
  readonly client: Client;
  readonly runtime: Pick<Runtime, "images">;
  /** Default: those of v1.36. */
  readonly features?: Features | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Throws Error if the configuration of credential providers is invalid. */
export async function nodeImages({
  config,
  features = defaultFeatures,
  ...parts
}: NodeImagesOptions): Promise<NodeImages> {
  const { client, runtime, clock, log } = parts;
  const { rootDir, credentialProviderConfig: file, credentialProviderBinDir: binDir } = config;
  const { serializeImagePulls: serialize, maxParallelImagePulls: maxParallel } = config;
  const images = () => runtime.images.list();
  const records = { rootDir, verification: config.imageVerification, images, clock, log };
  return {
    nodeCredentials: nodeCredentials(rootDir),
    providers:
      file === undefined || binDir === undefined
        ? undefined
        : await credentialProviders({ config: file, binDir, client, clock, log }),
    access: features.enabled("KubeletEnsureSecretPulledImages") ? pullRecords(records) : undefined,
    queue: pullQueue({ serialize, maxParallel, qps: config.registryPullQps, burst: config.registryBurst }, clock),
    progress: pullProgress(runtime, clock),
  };
}
