/** Levels and versions of the Pod Security Standards, and the labels of a namespace that set them. */
import { type FieldError, invalid } from "../../machinery/errors/field-error.ts";

export const podSecurityLevels = ["privileged", "baseline", "restricted"] as const;
export type PodSecurityLevel = (typeof podSecurityLevels)[number];

/** The minor version of the standards; Infinity is `latest`. */
export type PodSecurityVersion = number;
export const LATEST: PodSecurityVersion = Number.POSITIVE_INFINITY;

export interface LevelVersion {
  readonly level: PodSecurityLevel;
  readonly version: PodSecurityVersion;
}

export interface PodSecurityPolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export type PodSecurityMode = keyof PodSecurityPolicy;

const PREFIX = "pod-security.kubernetes.io/";
export const levelWords = `must be one of ${podSecurityLevels.join(", ")}`;
export const versionWords = 'must be "latest" or "v1.x"';

const privileged: LevelVersion = { level: "privileged", version: LATEST };
export const privilegedPolicy: PodSecurityPolicy = { enforce: privileged, audit: privileged, warn: privileged };

/** `restricted:latest`, `baseline:v1.24`. */
export function levelVersionText({ level, version }: LevelVersion): string {
  return `${level}:${version === LATEST ? "latest" : `v1.${version}`}`;
}

export function sameLevelVersion(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.version === b.version;
}

/** Positive if `a` is stricter. */
export function compareLevels(a: PodSecurityLevel, b: PodSecurityLevel): number {
  return podSecurityLevels.indexOf(a) - podSecurityLevels.indexOf(b);
}

export function parseLevel(text: string): PodSecurityLevel | undefined {
  return podSecurityLevels.find((level) => level === text);
}

export function parseVersion(text: string): PodSecurityVersion | undefined {
  if (text === "latest") return LATEST;
  const match = /^v1\.(0|[1-9]\d*)$/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/**
 * The policy that a namespace's labels set. An invalid label is reported, and until it is corrected enforces the
 * strictest level and warns and audits at the most permissive one. A namespace that enforces a level without a label
 * for warnings warns at that level, so that templates of workloads are covered, too.
 */
export function podSecurityPolicy(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: PodSecurityPolicy,
): { readonly policy: PodSecurityPolicy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const read = <T>(
    label: string,
    parse: (text: string) => T | undefined,
    words: string,
  ): { isSet: boolean; value?: T | undefined } => {
    const text = labels?.[PREFIX + label];
    if (text === undefined) return { isSet: false };
    const value = parse(text);
    if (value === undefined) errors.push(invalid(`metadata.labels[${PREFIX}${label}]`, text, words));
    return { isSet: true, value };
  };
  const one = (mode: PodSecurityMode, fallback: PodSecurityLevel) => {
    const level = read(mode, parseLevel, levelWords);
    const version = read(`${mode}-version`, parseVersion, versionWords);
    return {
      level: level.isSet ? (level.value ?? fallback) : defaults[mode].level,
      version: version.isSet ? (version.value ?? LATEST) : defaults[mode].version,
      hasLevel: level.value !== undefined,
      hasVersion: version.value !== undefined,
    };
  };
  const enforce = one("enforce", "restricted");
  const audit = one("audit", "privileged");
  const warn = one("warn", "privileged");
  const follows = !warn.hasLevel && enforce.hasLevel && compareLevels(enforce.level, warn.level) > 0;
  const policy = {
    enforce: { level: enforce.level, version: enforce.version },
    audit: { level: audit.level, version: audit.version },
    warn: {
      level: follows ? enforce.level : warn.level,
      version: follows && !warn.hasVersion ? enforce.version : warn.version,
    },
  };
  return { policy, errors };
}
