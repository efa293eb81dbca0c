/** EncryptionConfiguration of apiserver.config.k8s.io: the providers of each resource, checked field by field. */
import { at, durationMs, type FieldError, type FieldPath, field, type Json, type JsonObject } from "#api";
import { documentOf, listOf, objectOf, onlyFields, textOf } from "../configuration/document.ts";

export class EncryptionConfigError extends Error {}

export type CipherName = "aescbc" | "aesgcm" | "secretbox";

export type ProviderSettings =
  | { readonly type: CipherName; readonly keys: readonly NamedKey[] }
  | { readonly type: "kms"; readonly name: string; readonly endpoint: string; readonly timeoutMs: number }
  | { readonly type: "identity" };

export interface NamedKey {
  readonly name: string;
  readonly secret: Buffer;
}

export interface ResourceSettings {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` and `*.*`. */
  readonly resources: readonly string[];
  /** The first one encrypts, all of them decrypt. */
  readonly providers: readonly ProviderSettings[];
}

const VERSIONS = ["v1"].map((version) => `apiserver.config.k8s.io/${version}`);
const KEY_SIZES: Readonly<Record<CipherName, readonly number[]>> = {
  aescbc: [16, 24, 32],
  aesgcm: [16, 24, 32],
  secretbox: [32],
};
const TYPES = ["kms", "aesgcm", "aescbc", "secretbox", "identity"];
const WITHOUT_API = ["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"];
const DEFAULT_TIMEOUT_MS = 3_000;
const KMS_V1 =
  "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.";

/** Throws EncryptionConfigError. */
export function parseEncryptionConfiguration(text: string, file: string): readonly ResourceSettings[] {
  if (text.trim() === "") throw new EncryptionConfigError(`encryption provider configuration file "${file}" is empty`);
  const document = documentOf(text, file, EncryptionConfigError);
  if (document.kind !== "EncryptionConfiguration" || !VERSIONS.includes(String(document.apiVersion))) {
    throw new EncryptionConfigError(`${file}: an EncryptionConfiguration of ${VERSIONS.join(", ")} is needed.`);
  }
  const errors: FieldError[] = [];
  onlyFields(document, ["kind", "apiVersion", "resources"], at(), errors);
  const path = at("resources");
  const entries = listOf(document.resources);
  if (entries.length === 0) errors.push(field.required(path, "at least one resources is required"));
  const names = new Set<string>();
  const settings = entries.map((entry, i) => settingsOf(objectOf(entry), path.index(i), names, errors));
  if (errors.length > 0) throw new EncryptionConfigError(`${file}: ${errors.map(field.fieldErrorText).join("; ")}.`);
  checkMasks(settings, file);
  return settings;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export function groupResource(text: string): GroupResource {
  const dot = text.indexOf(".");
  return dot === -1 ? { group: "", resource: text } : { resource: text.slice(0, dot), group: text.slice(dot + 1) };
}

function settingsOf(entry: JsonObject, path: FieldPath, names: Set<string>, errors: FieldError[]): ResourceSettings {
  onlyFields(entry, ["resources", "providers"], path, errors);
  const resources = listOf(entry.resources).map(textOf);
  const where = path.child("resources");
  if (resources.length === 0) errors.push(field.required(where, `at least one ${where} is required`));
  checkOverlap(resources, where, errors);
  resources.forEach((name, i) => {
    const why = nameFlaw(name);
    if (why !== undefined) errors.push(field.invalid(where.index(i), name, why));
  });
  const providers = listOf(entry.providers);
  const of = path.child("providers");
  if (providers.length === 0) errors.push(field.required(of, `at least one ${of} is required`));
  return { resources, providers: providers.flatMap((one, i) => providerOf(one, of.index(i), names, errors)) };
}

function checkOverlap(resources: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const shown = resources as string[];
  if (new Set(resources).size < resources.length)
    errors.push(field.invalid(path, shown, "the same resource cannot be specified multiple times"));
  const parsed = [...new Set(resources)].map(groupResource);
  const overlaps = parsed.some(({ group, resource }, i) =>
    parsed.some((other, j) => i !== j && resource === "*" && (group === "*" || other.group === group)),
  );
  if (overlaps) {
    errors.push(
      field.invalid(
        path,
        shown,
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
      ),
    );
  }
}

function nameFlaw(name: string): string | undefined {
  if (name !== name.toLowerCase()) return "resource name should not contain capital letters";
  if (name === "*") return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (WITHOUT_API.includes(name)) return "resources which do not have REST API/s cannot be encrypted";
  const { group, resource } = groupResource(name);
  if (group === "events.k8s.io")
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === "extensions") return "'extensions' group has been removed and cannot be used for encryption";
  if (group === "*" && resource !== "*") return "encrypting the same resource across groups is not supported";
  return undefined;
}

function providerOf(
  value: Json,
  path: FieldPath,
  names: Set<string>,
  errors: FieldError[],
): readonly ProviderSettings[] {
  const provider = objectOf(value);
  onlyFields(provider, TYPES, path, errors);
  const given = TYPES.filter((type) => provider[type] !== undefined && provider[type] !== null);
  const [type] = given;
  if (given.length > 1) {
    const why = "more than one provider specified in a single element, should split into different list elements";
    errors.push(field.invalid(path, given.join(", "), why));
    return [];
  }
  if (type === undefined) {
    const why = "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity";
    errors.push(field.invalid(path, "", why));
    return [];
  }
  if (type === "identity") return [{ type }];
  const settings = objectOf(provider[type]);
  if (type === "kms") return [kmsOf(settings, path.child(type), names, errors)];
  const cipher = type as CipherName;
  return [{ type: cipher, keys: keysOf(settings, path.child(type), KEY_SIZES[cipher], errors) }];
}

function keysOf(
  settings: JsonObject,
  path: FieldPath,
  sizes: readonly number[],
  errors: FieldError[],
): readonly NamedKey[] {
  onlyFields(settings, ["keys"], path, errors);
  const keys = listOf(settings.keys);
  const where = path.child("keys");
  if (keys.length === 0) errors.push(field.required(where, "at least one keys is required"));
  return keys.map((value, i) => {
    const key = objectOf(value);
    const here = where.index(i);
    onlyFields(key, ["name", "secret"], here, errors);
    const [name, text] = [textOf(key.name), textOf(key.secret)];
    if (name === "") errors.push(field.required(here.child("name"), "name is a mandatory field for a key"));
    const secret = Buffer.from(text, "base64");
    const isBase64 = secret.toString("base64") === text;
    if (text === "") errors.push(field.required(here.child("secret"), "secret is a mandatory field for a key"));
    else if (!isBase64) errors.push(field.invalid(here.child("secret"), "REDACTED", "secrets must be base64 encoded"));
    else if (!sizes.includes(secret.length)) {
      const why = `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(" ")}]`;
      errors.push(field.invalid(here.child("secret"), "REDACTED", why));
    }
    return { name, secret };
  });
}

function kmsOf(kms: JsonObject, path: FieldPath, names: Set<string>, errors: FieldError[]): ProviderSettings {
  onlyFields(kms, ["apiVersion", "name", "cachesize", "endpoint", "timeout"], path, errors);
  const [name, endpoint, version] = [textOf(kms.name), textOf(kms.endpoint), textOf(kms.apiVersion) || "v1"];
  const nameAt = path.child("name");
  if (name === "") errors.push(field.required(nameAt, "name is a mandatory field for a provider"));
  if (name.includes(":"))
    errors.push(field.invalid(nameAt, name, `invalid KMS provider name ${name}, must not contain ':'`));
  if (names.has(name))
    errors.push(field.invalid(nameAt, name, `duplicate KMS provider name ${name}, names must be unique`));
  names.add(name);
  if (version === "v1") errors.push(field.invalid(path.child("apiVersion"), version, KMS_V1));
  else if (version !== "v2") {
    const why = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported";
    errors.push(field.invalid(path.child("apiVersion"), version, why));
  } else if (kms.cachesize !== undefined) {
    errors.push(field.invalid(path.child("cachesize"), kms.cachesize, "cachesize is not supported in v2"));
  }
  const why = endpointFlaw(endpoint);
  if (why !== undefined) errors.push(field.invalid(path.child("endpoint"), endpoint, why));
  return { type: "kms", name, endpoint, timeoutMs: timeoutOf(kms, path.child("timeout"), errors) };
}

function endpointFlaw(endpoint: string): string | undefined {
  if (endpoint === "") return "endpoint is a mandatory field for a kms";
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1] ?? "";
  return scheme === "unix" ? undefined : `unsupported scheme "${scheme}" for KMS provider, only unix is supported`;
}

function timeoutOf({ timeout }: JsonObject, path: FieldPath, errors: FieldError[]): number {
  if (timeout === undefined || timeout === null) return DEFAULT_TIMEOUT_MS;
  try {
    const ms = durationMs(textOf(timeout));
    if (ms > 0) return ms;
    errors.push(field.invalid(path, textOf(timeout), "timeout should be a positive value"));
  } catch (error) {
    errors.push(field.invalid(path, textOf(timeout), (error as Error).message));
  }
  return DEFAULT_TIMEOUT_MS;
}

/** A resource that an earlier wildcard covers cannot be named again. */
function checkMasks(settings: readonly ResourceSettings[], file: string): void {
  const before = new Set<string>();
  for (const { resources } of settings) {
    for (const name of resources) {
      const { group } = groupResource(name);
      const mask = [`*.${group}`, "*.*"].find((wildcard) => wildcard !== name && before.has(wildcard));
      if (mask !== undefined)
        throw new EncryptionConfigError(`${file}: resource "${name}" is masked by earlier rule "${mask}"`);
    }
    for (const name of resources) before.add(name);
  }
}
