/**
 * Fields of a Pod, and resources of its containers, as text: for environment variables and files of the downward API.
 *
 * 1. A limit that is not set is the node's allocatable; a request that is not set is 0.
 * 2. An amount is divided by its divisor and rounded up.
 */
import { type core, goQuote, parseQuantity, scaledValue } from "#api";
import { RuntimeConfigError } from "./config-error.ts";

/** Addresses, which are known only once the sandbox exists. */
export interface PodAddresses {
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}

export function fieldValue(pod: core.Pod, fieldPath: string, { podIps, hostIps }: PodAddresses): string {
  const { metadata, spec } = pod;
  const entry = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(fieldPath);
  if (entry !== null) return metadata[entry[1] as "labels" | "annotations"]?.[entry[2] ?? ""] ?? "";
  switch (fieldPath) {
    case "metadata.name":
      return metadata.name ?? "";
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid ?? "";
    case "metadata.labels":
      return lines(metadata.labels);
    case "metadata.annotations":
      return lines(metadata.annotations);
    case "spec.nodeName":
      return spec?.nodeName ?? "";
    case "spec.serviceAccountName":
      return spec?.serviceAccountName ?? "";
    case "status.hostIP":
      return hostIps[0] ?? "";
    case "status.hostIPs":
      return hostIps.join(",");
    case "status.podIP":
      return podIps[0] ?? "";
    case "status.podIPs":
      return podIps.join(",");
    default:
      throw new RuntimeConfigError(`unsupported fieldPath: ${fieldPath}`);
  }
}

function lines(map: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(map ?? {}).sort();
  return keys.map((key) => `${key}=${goQuote(map?.[key] ?? "")}`).join("\n");
}

export function resourceValue(
  pod: core.Pod,
  ref: core.ResourceFieldSelector,
  ownContainer: string | undefined,
  allocatable: Readonly<Record<string, string>>,
): string {
  const name = ref.containerName === undefined || ref.containerName === "" ? ownContainer : ref.containerName;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const container = [...containers, ...initContainers].find((each) => each.name === name);
  if (container === undefined) throw new RuntimeConfigError(`container ${name ?? ""} not found`);
  const [side, resource] = splitResource(ref.resource);
  const amount = container.resources?.[side]?.[resource] ?? (side === "limits" ? allocatable[resource] : undefined);
  const scale = resource === "cpu" ? -3 : 0;
  const divisor = ref.divisor === undefined || ref.divisor === "0" ? "1" : ref.divisor;
  const units = scaledValue(parseQuantity(divisor), scale);
  const value = scaledValue(parseQuantity(amount ?? "0"), scale);
  return String((value + units - 1n) / units);
}

function splitResource(path: string): ["limits" | "requests", string] {
  const [side = "", ...rest] = path.split(".");
  if ((side !== "limits" && side !== "requests") || rest.length === 0)
    throw new RuntimeConfigError(`unsupported container resource: ${path}`);
  return [side, rest.join(".")];
}
