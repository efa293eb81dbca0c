/**
 * KubeletConfiguration (kubelet.config.k8s.io/v1beta1): the supported fields. Fields without effect are reported to the
 * user.
 */

import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { type core, parseDuration, parseQuantity, scaledValue } from "#api";
import { table } from "#base";
import { readTracingSettings } from "#tracing";
import { type ShutdownPeriod, shutdownPeriods } from "../eviction/index.ts";
import { parseImageName, VERIFICATION_POLICIES } from "../images/index.ts";
import type { KubeletConfig } from "./config.ts";

export interface KubeletConfigurationFile {
  readonly values: Partial<KubeletConfig>;
  readonly runtimeEndpoint: string | undefined;
  /** Fields that have no effect. */
  readonly ignored: readonly string[];
}

type Draft = { -readonly [Key in keyof KubeletConfig]?: KubeletConfig[Key] };
type Reader = (value: unknown, into: Draft) => void;

const text =
  (name: keyof Draft): Reader =>
  (value, into) =>
    void Object.assign(into, { [name]: checked(value, "string") });
const number =
  (name: keyof Draft): Reader =>
  (value, into) =>
    void Object.assign(into, { [name]: checked(value, "number") });
const truth =
  (name: keyof Draft): Reader =>
  (value, into) => {
    if (typeof value !== "boolean") throw new Error("must be true or false");
    Object.assign(into, { [name]: value });
  };
const texts =
  (name: keyof Draft): Reader =>
  (value, into) => {
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw new Error("must be a list of strings");
    Object.assign(into, { [name]: value });
  };
const map =
  (name: keyof Draft): Reader =>
  (value, into) => {
    if (typeof value !== "object" || value === null) throw new Error("must be a map of strings");
    Object.assign(into, {
      [name]: Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)])),
    });
  };
const FIELDS: Readonly<Record<string, Reader>> = table({
  allowedUnsafeSysctls: texts("allowedUnsafeSysctls"),
  cgroupRoot: text("cgroupRoot"),
  clusterDNS: texts("clusterDns"),
  clusterDomain: text("clusterDomain"),
  containerLogMaxFiles: number("containerLogMaxFiles"),
  containerLogMaxSize: (value, into) => {
    into.containerLogMaxBytes = Number(scaledValue(parseQuantity(String(value)), 0));
  },
  enableSystemLogHandler: truth("systemLogs"),
  evictionHard: map("evictionHard"),
  featureGates: (value, into) => {
    const gates = typeof value === "object" && value !== null ? Object.values(value) : [undefined];
    if (gates.some((gate) => typeof gate !== "boolean")) throw new Error("must be a map of true or false");
    into.featureGates = value as Readonly<Record<string, boolean>>;
  },
  imageGCHighThresholdPercent: number("imageGcHighPercent"),
  imageGCLowThresholdPercent: number("imageGcLowPercent"),
  imagePullCredentialsVerificationPolicy: (value, into) => {
    const policy = VERIFICATION_POLICIES.find((each) => each === value);
    if (policy === undefined) throw new Error(`must be one of ${VERIFICATION_POLICIES.join(", ")}`);
    into.imageVerification = { allowlist: [], ...into.imageVerification, policy };
  },
  kubeReserved: map("kubeReserved"),
  maxParallelImagePulls: number("maxParallelImagePulls"),
  maxPods: number("maxPods"),
  podLogsDir: text("podLogsRoot"),
  podPidsLimit: number("podPidsLimit"),
  port: number("port"),
  preloadedImagesVerificationAllowlist: (value, into) => {
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string" || !isAllowlistPattern(each)))
      throw new Error("must be a list of repositories without tag and digest, which may end with /*");
    into.imageVerification = { policy: "NeverVerifyPreloadedImages", ...into.imageVerification, allowlist: value };
  },
  providerID: text("providerId"),
  registerWithTaints: (value, into) => {
    if (!Array.isArray(value)) throw new Error("must be a list of taints");
    into.taints = value as readonly core.Taint[];
  },
  registryBurst: number("registryBurst"),
  registryPullQPS: number("registryPullQps"),
  resolvConf: text("resolvConf"),
  seccompDefault: truth("seccompDefault"),
  serializeImagePulls: truth("serializeImagePulls"),
  serverTLSBootstrap: truth("serverTlsBootstrap"),
  staticPodPath: text("staticPodPath"),
  staticPodURL: text("staticPodUrl"),
  systemReserved: map("systemReserved"),
  tracing: (value, into) => {
    if (typeof value !== "object" || value === null) throw new Error("must be an object");
    try {
      into.tracing = readTracingSettings(value as Readonly<Record<string, unknown>>, "tracing.");
    } catch (error) {
      throw new Error(`is not valid: ${(error as Error).message}`, { cause: error });
    }
  },
});

export async function kubeletConfiguration(file: string): Promise<KubeletConfigurationFile> {
  return parseKubeletConfiguration(await readFile(file, "utf8"));
}

/** Throws Error with one sentence. */
export function parseKubeletConfiguration(source: string): KubeletConfigurationFile {
  const document: unknown = parse(source);
  if (typeof document !== "object" || document === null) throw new Error("it is not a KubeletConfiguration.");
  const { apiVersion, kind, containerRuntimeEndpoint, ...rest } = document as Record<string, unknown>;
  if (apiVersion !== "kubelet.config.k8s.io/v1beta1" || kind !== "KubeletConfiguration")
    throw new Error("it must be of the kind KubeletConfiguration, kubelet.config.k8s.io/v1beta1.");
  const { shutdown, fields } = shutdownIn(rest);
  const values: Draft = { ...(shutdown.length > 0 && { shutdownPeriods: shutdown }) };
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const read = FIELDS[name];
    if (read === undefined) ignored.push(name);
    else if (value !== null && value !== undefined) {
      try {
        read(value, values);
      } catch (error) {
        throw new Error(`${name} ${(error as Error).message}.`, { cause: error });
      }
    }
  }
  checkImages(values);
  const runtimeEndpoint =
    typeof containerRuntimeEndpoint === "string" && containerRuntimeEndpoint !== ""
      ? containerRuntimeEndpoint
      : undefined;
  return { values, runtimeEndpoint, ignored };
}

/** What fields of images mean together. */
function checkImages({ imageVerification, maxParallelImagePulls, serializeImagePulls = true }: Draft): void {
  const { policy, allowlist = [] } = imageVerification ?? {};
  if (allowlist.length > 0 && policy !== "NeverVerifyAllowlistedImages")
    throw new Error(
      "preloadedImagesVerificationAllowlist can be set only with imagePullCredentialsVerificationPolicy NeverVerifyAllowlistedImages.",
    );
  if (maxParallelImagePulls === undefined) return;
  if (maxParallelImagePulls < 1) throw new Error("maxParallelImagePulls must be at least 1.");
  if (serializeImagePulls && maxParallelImagePulls > 1)
    throw new Error("maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls is false.");
}

/** Without tag and digest. */
function isAllowlistPattern(pattern: string): boolean {
  const name = parseImageName(pattern.replace(/\/\*$/, ""));
  return name !== undefined && name.tag === "" && name.digest === "";
}

/** Either shutdownGracePeriod with its part for critical Pods, or one grace period for each priority. */
function shutdownIn({
  shutdownGracePeriod,
  shutdownGracePeriodCriticalPods,
  shutdownGracePeriodByPodPriority,
  ...fields
}: Record<string, unknown>): {
  readonly shutdown: readonly ShutdownPeriod[];
  readonly fields: Readonly<Record<string, unknown>>;
} {
  const [total, critical] = [shutdownGracePeriod, shutdownGracePeriodCriticalPods].map((value) =>
    value === undefined || value === null ? 0 : secondsOf(String(value)),
  );
  if ((critical ?? 0) > (total ?? 0))
    throw new Error("shutdownGracePeriod must not be shorter than shutdownGracePeriodCriticalPods.");
  if (shutdownGracePeriodByPodPriority === undefined || shutdownGracePeriodByPodPriority === null)
    return { shutdown: shutdownPeriods(total ?? 0, critical ?? 0), fields };
  if ((total ?? 0) > 0)
    throw new Error("shutdownGracePeriodByPodPriority and shutdownGracePeriod cannot be given together.");
  if (!Array.isArray(shutdownGracePeriodByPodPriority))
    throw new Error("shutdownGracePeriodByPodPriority must be a list.");
  const shutdown = shutdownGracePeriodByPodPriority.map(
    ({ priority = 0, shutdownGracePeriodSeconds: seconds = 0 }: Record<string, number>) => ({ priority, seconds }),
  );
  return { shutdown, fields };
}

function secondsOf(duration: string): number {
  try {
    return Number(parseDuration(duration)) / 1e9;
  } catch (error) {
    throw new Error(`${duration} is not a duration such as 30s.`, { cause: error });
  }
}

function checked(value: unknown, type: "string" | "number"): string | number {
  if (typeof value === type) return value as string | number;
  throw new Error(`must be a ${type}`);
}
