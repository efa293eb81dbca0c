/**
 * The cloud controllers in a process of their own, like cloud-controller-manager: configured by flags, and the file of
 * `--cloud-config`.
 */
import { hostname } from "node:os";
import { parse } from "yaml";
import { traced } from "#client";
import type { Cloud, CloudControllersOptions } from "#cloud";
import type { Environment } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { readFlag } from "../config/flag-files.ts";
import { accountClients, anonymous } from "./account-clients.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";

const NAME = "cloud-controller-manager";

export interface StandaloneCloudConfig extends Omit<ComponentConfig, "name"> {
  readonly provider: "local" | "http";
  /** `--cloud-config`; of the provider `http`. */
  readonly configFile?: string | undefined;
  /** IP ranges of the provider `local`. */
  readonly loadBalancerAddresses: readonly string[];
  readonly clusterName: string;
  readonly controllers: CloudControllersOptions;
  /** As in `--controllers`. */
  readonly selection?: readonly string[] | undefined;
  /** Each controller uses its own service account instead of the kubeconfig's user. */
  readonly useServiceAccountCredentials: boolean;
}

type OpenCloud = (component: Pick<Component, "clock" | "random">) => Cloud;

/** Runs until the signal aborts. Throws ClusterError for wrong flags and files before anything starts. */
export async function runStandaloneCloudControllerManager(
  config: StandaloneCloudConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { CLOUD_CONTROLLERS, cloudControllers } = await import("#cloud");
  const { controllerMetrics, runControllers } = await import("#controllers");
  const { selection, useServiceAccountCredentials: ownAccounts } = config;
  const known = new Set(Object.values(CLOUD_CONTROLLERS));
  const unknown = selection?.map((each) => each.replace(/^-/, "")).find((name) => name !== "*" && !known.has(name));
  if (unknown !== undefined)
    throw new ClusterError(`--controllers: "${unknown}" is not in the list of known controllers.`);
  const open = await cloudOf(config);
  const prepare = ({ client, connection, random, metrics, features, tracer }: Component): Work => {
    const options = {
      ...{ client, clock, random, log, enabled: features.enabled, instance: hostname() },
      metrics: controllerMetrics(metrics, { manager: NAME }),
    };
    // A re-elected leader starts with an empty state: another leader may have worked meanwhile.
    return async (running) => {
      const cloud = open({ clock, random });
      const controllers = cloudControllers(cloud, config.controllers);
      const names = new Set(controllers.map(({ name }) => name));
      const absent = [...known].filter((name) => !names.has(name));
      if (absent.length > 0) log.info("controllers that the cloud or flags have no use for do not run", { absent });
      const transport = traced(anonymous(connection, clock), tracer, "Reconcile");
      const clientOf = ownAccounts ? accountClients({ client, transport, userAgent: NAME, clock, log }) : () => client;
      const chosen = selection?.filter((each) => each === "*" || names.has(each.replace(/^-/, "")));
      try {
        await runControllers({ ...options, controllers, clientOf, selection: chosen }, running);
      } finally {
        cloud.close?.();
        await transport.close();
      }
    };
  };
  await runComponent({ ...config, name: NAME }, { clock, log }, prepare, signal);
}

async function cloudOf({
  provider,
  configFile,
  loadBalancerAddresses: addresses,
  clusterName,
}: StandaloneCloudConfig): Promise<OpenCloud> {
  const { AddressPoolError, httpCloud, localCloud } = await import("#cloud");
  if (provider === "http") {
    if (configFile === undefined) throw new ClusterError("--cloud-config is required by --cloud-provider http.");
    const { settings, ca } = await httpSettingsOf(configFile);
    return ({ clock, random }) => httpCloud({ settings, ca, clusterName, clock, random });
  }
  if (configFile !== undefined) throw new ClusterError("--cloud-config has no meaning to --cloud-provider local.");
  try {
    localCloud({ addresses });
  } catch (error) {
    if (!(error instanceof AddressPoolError)) throw error;
    throw new ClusterError(`--load-balancer-addresses: ${error.message}.`, { cause: error });
  }
  return () => localCloud({ addresses });
}

async function httpSettingsOf(file: string) {
  const { CloudConfigError, httpCloudSettings } = await import("#cloud");
  const text = await readFlag("--cloud-config", file);
  try {
    const settings = httpCloudSettings(parse(text));
    if (settings.tokenFile !== undefined) await readFlag(`--cloud-config ${file}: tokenFile`, settings.tokenFile);
    const { caFile } = settings;
    return { settings, ca: caFile === undefined ? undefined : await readFlag(`${file}: caFile`, caFile) };
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    if (!(error instanceof CloudConfigError) && (error as Error).name !== "YAMLParseError") throw error;
    throw new ClusterError(`--cloud-config ${file}: ${(error as Error).message}.`, { cause: error });
  }
}
