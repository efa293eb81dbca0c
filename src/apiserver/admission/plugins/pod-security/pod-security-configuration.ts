/** The configuration of PodSecurity: defaults for namespaces without labels, and exemptions. */
import {
  isObject,
  type Json,
  type JsonObject,
  type LevelVersion,
  levelWords,
  type PodSecurityMode,
  type PodSecurityPolicy,
  parsePodSecurityLevel,
  parsePodSecurityVersion,
  versionWords,
} from "#api";
import { AdmissionConfigError } from "../../chain/configuration.ts";

const NAME = "PodSecurity";
const API_VERSION = /^pod-security\.admission\.config\.k8s\.io\/v1(alpha1|beta1)?$/;

export interface PodSecurityConfiguration {
  readonly defaults: PodSecurityPolicy;
  readonly exempt: {
    readonly usernames: ReadonlySet<string>;
    readonly namespaces: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
  };
}

export function podSecurityConfiguration(section: JsonObject = {}): PodSecurityConfiguration {
  const { apiVersion, kind } = section;
  if (Object.keys(section).length > 0 && (kind !== "PodSecurityConfiguration" || !API_VERSION.test(String(apiVersion))))
    throw new AdmissionConfigError(
      NAME,
      "it has to be a PodSecurityConfiguration of pod-security.admission.config.k8s.io/v1",
    );
  const defaults = objectAt(section.defaults, "defaults");
  const exemptions = objectAt(section.exemptions, "exemptions");
  const one = (mode: PodSecurityMode): LevelVersion => ({
    level: read(defaults[mode] ?? "privileged", parsePodSecurityLevel, `defaults.${mode}`, levelWords),
    version: read(
      defaults[`${mode}-version`] ?? "latest",
      parsePodSecurityVersion,
      `defaults.${mode}-version`,
      versionWords,
    ),
  });
  return {
    defaults: { enforce: one("enforce"), audit: one("audit"), warn: one("warn") },
    exempt: {
      usernames: names(exemptions.usernames, "usernames"),
      namespaces: names(exemptions.namespaces, "namespaces"),
      runtimeClasses: names(exemptions.runtimeClasses, "runtimeClasses"),
    },
  };
}

function read<T>(value: Json, parse: (text: string) => T | undefined, where: string, words: string): T {
  const found = typeof value === "string" ? parse(value) : undefined;
  if (found === undefined) throw new AdmissionConfigError(NAME, `${where} ${words}`);
  return found;
}

function objectAt(value: Json | undefined, where: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new AdmissionConfigError(NAME, `${where} has to be an object`);
  return value;
}

function names(value: Json | undefined, where: string): ReadonlySet<string> {
  if (value === undefined || value === null) return new Set();
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string" && name !== ""))
    throw new AdmissionConfigError(NAME, `exemptions.${where} has to be a list of names`);
  if (new Set(value).size !== value.length)
    throw new AdmissionConfigError(NAME, `exemptions.${where} names something twice`);
  return new Set(value as string[]);
}
