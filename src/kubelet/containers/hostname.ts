/** A Pod's hostname and domain. */
import type { core } from "#api";
import { RuntimeConfigError } from "./config-error.ts";

const MAX_LABEL = 63;
const MAX_HOSTNAME = 64;

export interface PodHostname {
  readonly hostname: string;
  /** The domain behind the hostname; empty if the Pod has no subdomain. */
  readonly domain: string;
}

export function podHostname({ metadata, spec }: core.Pod, clusterDomain: string): PodHostname {
  if (spec?.hostnameOverride !== undefined && spec.hostnameOverride !== "")
    return { hostname: spec.hostnameOverride, domain: "" };
  const own = spec?.hostname ?? "";
  const hostname = own === "" ? shortened(metadata.name ?? "") : own;
  const subdomain = spec?.subdomain ?? "";
  return { hostname, domain: subdomain === "" ? "" : `${subdomain}.${metadata.namespace}.svc.${clusterDomain}` };
}

/** The kernel's hostname. */
export function kernelHostname(pod: core.Pod, clusterDomain: string): string {
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (pod.spec?.setHostnameAsFQDN !== true || domain === "") return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length > MAX_HOSTNAME) {
    throw new RuntimeConfigError(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${MAX_HOSTNAME} characters is the max, ${fqdn.length} characters requested)`,
    );
  }
  return fqdn;
}

function shortened(name: string): string {
  return name.length <= MAX_LABEL ? name : name.slice(0, MAX_LABEL).replace(/[-.]+$/, "");
}
