/** What a test cluster is made of. */
import type { Logger } from "#base";
import type { Controller } from "#controllers";
import type { ContainerScript, UsageSource } from "#kubelet";
import type { NodesConfig } from "../../cluster/config/cluster-config.ts";

export interface ClusterOptions {
  /** Simulated nodes: how many, or what they have. Default: one. */
  readonly nodes?: number | NodesConfig | undefined;
  /** Which controllers run, as in `--controllers`. Default: all that are on by default. `[]`: none. */
  readonly controllers?: readonly string[] | undefined;
  /** Default: true. */
  readonly scheduler?: boolean | undefined;
  /** Controllers under test, written with `k8ts/controllers`. They run as administrators. */
  readonly operators?: readonly Controller[] | undefined;
  /** CustomResourceDefinitions: folders or files of YAML or JSON, or objects. They are served when the cluster is ready. */
  readonly crds?: readonly (string | object)[] | undefined;
  /** Other objects, applied in their order after the CustomResourceDefinitions: folders, files or objects. */
  readonly manifests?: readonly (string | object)[] | undefined;
  /** What containers of an image do. Default: run until they are stopped; those of Jobs end after a second. */
  readonly images?: Readonly<Record<string, ImageScript>> | undefined;
  /** What containers use. Default: a tenth of the CPU and half of the memory that they request. */
  readonly usage?: UsageSource | undefined;
  /** Feature gates to set, such as `GenericWorkload=true`. */
  readonly featureGates?: string | undefined;
  /** API versions and resources to turn on or off, such as `scheduling.k8s.io/v1alpha2=true`. */
  readonly runtimeConfig?: string | undefined;
  /** Names and uids follow from it. Default: 1. */
  readonly seed?: number | undefined;
  /** Faults that happen by chance follow from it. Default: 1. */
  readonly faultSeed?: number | undefined;
  /** The wall time at the beginning. Default: 2030-01-01T00:00:00Z. */
  readonly startAt?: Date | undefined;
  /** Opens a port on loopback for other clients and writes a kubeconfig. 0: any free one. Default: no port. */
  readonly port?: number | undefined;
  /** The file of the kubeconfig of a cluster with a port. Default: a temporary one. It is removed by `stop`. */
  readonly kubeconfig?: string | undefined;
  /** How long `stop` waits for components, in real milliseconds. Default: 10,000. */
  readonly stopWithinMs?: number | undefined;
  /** Default: nothing is logged. */
  readonly log?: Logger | undefined;
}

/** What the containers of an image do. Durations are in milliseconds; Infinity: for ever, or never. */
export type ImageScript = Partial<Omit<ContainerScript, "cpuUsage" | "memoryUsage">>;

/** The script of an image: by its whole name, or by its name without a tag or digest. */
export function scriptsOf(images: ClusterOptions["images"]): ((image: string) => ImageScript | undefined) | undefined {
  if (images === undefined) return undefined;
  const scripts = new Map(Object.entries(images));
  return (image) => scripts.get(image) ?? scripts.get(image.replace(/[:@][^/]*$/, ""));
}
