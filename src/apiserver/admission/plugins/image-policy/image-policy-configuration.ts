/**
 * The section of ImagePolicyWebhook: where its backend is, and how long its answers count.
 *
 *     imagePolicy: { kubeConfigFile, allowTTL (s), denyTTL (s), retryBackoff (ms), defaultAllow }
 *
 * 1. A time of 0 or none is the default; -1 switches it off.
 */
import { formatDuration, isObject, type Json, type JsonObject } from "#api";
import { type KubeconfigConnection, PkiError, readKubeconfig } from "#pki";
import { AdmissionConfigError } from "../../chain/configuration.ts";

export const NAME = "ImagePolicyWebhook";
const SECTION = "imagePolicy";

export interface ImagePolicy {
  readonly connection: KubeconfigConnection;
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly retryBackoffMs: number;
  /** What becomes of a Pod if the backend cannot be asked. */
  readonly defaultAllow: boolean;
}

interface Limits {
  readonly scaleMs: number;
  readonly defaultMs: number;
  /** Times of this length or shorter are refused; longer than `mostNs`, too. */
  readonly leastNs: bigint;
  readonly mostNs: bigint;
}

const MINUTE_MS = 60_000;
const NS_PER_MS = 1_000_000n;
const TTL = { scaleMs: 1000, leastNs: 1000n * NS_PER_MS, mostNs: BigInt(30 * MINUTE_MS) * NS_PER_MS };
const LIMITS = {
  allowTTL: { ...TTL, defaultMs: 5 * MINUTE_MS },
  denyTTL: { ...TTL, defaultMs: 30_000 },
  retryBackoff: { scaleMs: 1, leastNs: 1n, mostNs: BigInt(5 * MINUTE_MS) * NS_PER_MS, defaultMs: 500 },
} as const satisfies Readonly<Record<string, Limits>>;
const FIELDS = new Set(["kubeConfigFile", "defaultAllow", ...Object.keys(LIMITS)]);

/** Throws AdmissionConfigError for what cannot be used. */
export async function imagePolicyConfiguration(configuration: JsonObject | undefined): Promise<ImagePolicy> {
  if (configuration === undefined) throw new AdmissionConfigError(NAME, "no config specified");
  const section = configuration[SECTION];
  if (!isObject(section)) throw new AdmissionConfigError(NAME, `its configuration needs a section \`${SECTION}\``);
  const stranger = Object.keys(section).find((field) => !FIELDS.has(field));
  if (stranger !== undefined) throw wrong(stranger, "there is no such field");
  const { kubeConfigFile, defaultAllow = false } = section;
  if (typeof defaultAllow !== "boolean") throw wrong("defaultAllow", "it has to be true or false");
  return {
    allowTtlMs: timeIn(section, "allowTTL"),
    denyTtlMs: timeIn(section, "denyTTL"),
    retryBackoffMs: timeIn(section, "retryBackoff"),
    defaultAllow,
    connection: await connectionIn(kubeConfigFile),
  };
}

function timeIn(section: JsonObject, field: keyof typeof LIMITS): number {
  const value = section[field] ?? 0;
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrong(field, "it has to be a whole number");
  const { scaleMs, defaultMs, leastNs, mostNs }: Limits = LIMITS[field];
  if (value === -1) return 0;
  if (value === 0) return defaultMs;
  const ns = BigInt(value) * BigInt(scaleMs) * NS_PER_MS;
  if (ns > leastNs && ns <= mostNs) return value * scaleMs;
  const range = `${formatDuration(leastNs)} and ${formatDuration(mostNs)}`;
  throw wrong(field, `valid value is between ${range}, got ${formatDuration(ns)}`);
}

async function connectionIn(file: Json | undefined): Promise<KubeconfigConnection> {
  if (typeof file !== "string" || file === "")
    throw wrong("kubeConfigFile", "it has to name the kubeconfig of the backend");
  try {
    const connection = await readKubeconfig(file);
    if (URL.canParse(connection.server)) return connection;
    throw wrong("kubeConfigFile", `"${connection.server}" is not a URL`);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new AdmissionConfigError(`${NAME}: ${SECTION}.kubeConfigFile`, error.message.replace(/\.$/, ""), error);
  }
}

function wrong(field: string, why: string): AdmissionConfigError {
  return new AdmissionConfigError(`${NAME}: ${SECTION}.${field}`, why);
}
