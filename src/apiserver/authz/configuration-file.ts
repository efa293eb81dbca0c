/** AuthorizationConfiguration of apiserver.config.k8s.io: the modes of the chain, checked field by field. */
import { isAbsolute } from "node:path";
import {
  at,
  checkDns1123Subdomain,
  durationMs,
  type FieldError,
  type FieldPath,
  field,
  type Json,
  type JsonObject,
} from "#api";
import { documentOf, listOf, objectOf, onlyFields, textOf } from "../configuration/document.ts";
import { AuthorizationConfigError } from "./config-error.ts";
import { MODE_NAMES, type ModeName } from "./mode.ts";
import type { ReviewVersion } from "./webhook/review.ts";

export interface AuthorizerEntry {
  readonly type: ModeName;
  readonly name: string;
  /** Absent if flags set it. */
  readonly webhook?: WebhookSettings;
}

export interface WebhookSettings {
  readonly kubeConfigFile: string;
  readonly version: ReviewVersion;
  readonly timeoutMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly onFailure: "noOpinion" | "deny";
  readonly matchConditions: readonly string[];
}

const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`);
const MAX_TIMEOUT_MS = 30_000;
const MAX_MATCH_CONDITIONS = 64;
const WEBHOOK_FIELDS = [
  "authorizedTTL",
  "cacheAuthorizedRequests",
  "unauthorizedTTL",
  "cacheUnauthorizedRequests",
  "timeout",
  "subjectAccessReviewVersion",
  "matchConditionSubjectAccessReviewVersion",
  "failurePolicy",
  "connectionInfo",
  "matchConditions",
];

export function parseConfigurationFile(text: string, file: string): readonly AuthorizerEntry[] {
  const errors: FieldError[] = [];
  const document = documentOf(text, file, AuthorizationConfigError);
  const { kind, apiVersion } = document;
  if (kind !== "AuthorizationConfiguration" || !VERSIONS.includes(String(apiVersion))) {
    throw new AuthorizationConfigError(`${file}: an AuthorizationConfiguration of ${VERSIONS.join(", ")} is needed.`);
  }
  onlyFields(document, ["kind", "apiVersion", "authorizers"], at(), errors);
  const path = at("authorizers");
  const authorizers = listOf(document.authorizers);
  if (authorizers.length === 0) errors.push(field.required(path, "at least one authorization mode must be defined"));
  const seen = { types: new Set<string>(), names: new Set<string>() };
  const entries = authorizers.flatMap((one, i) => entryOf(one, path.index(i), seen, errors));
  if (errors.length > 0) {
    throw new AuthorizationConfigError(`${file}: ${errors.map(field.fieldErrorText).join("; ")}.`);
  }
  return entries;
}

function entryOf(
  value: Json,
  path: FieldPath,
  seen: { readonly types: Set<string>; readonly names: Set<string> },
  errors: FieldError[],
): readonly AuthorizerEntry[] {
  const entry = objectOf(value);
  onlyFields(entry, ["type", "name", "webhook"], path, errors);
  const type = textOf(entry.type);
  if (!isOneOf(type, MODE_NAMES, path.child("type"), errors)) return [];
  if (seen.types.has(type) && type !== "Webhook") {
    errors.push(field.duplicate(path.child("type"), type));
    return [];
  }
  seen.types.add(type);
  const name = nameOf(entry, path.child("name"), seen.names, errors);
  const where = path.child("webhook");
  if (type !== "Webhook") {
    if (name !== "" && name !== type.toLowerCase())
      errors.push(
        field.invalid(path.child("name"), name, `expected name ${type.toLowerCase()} for authorizer ${type}`),
      );
    if (entry.webhook !== undefined && entry.webhook !== null)
      errors.push(field.invalid(where, "non-null", "may only be specified when type=Webhook"));
    return [{ type, name }];
  }
  if (entry.webhook === undefined || entry.webhook === null) {
    errors.push(field.required(where, "required when type=Webhook"));
    return [];
  }
  const webhook = webhookOf(objectOf(entry.webhook), where, errors);
  return webhook === undefined ? [] : [{ type, name, webhook }];
}

function nameOf(entry: JsonObject, path: FieldPath, seen: Set<string>, errors: FieldError[]): string {
  const name = textOf(entry.name);
  const faults = name === "" ? [] : checkDns1123Subdomain(name);
  if (name === "") errors.push(field.required(path));
  else if (seen.has(name)) errors.push(field.duplicate(path, name));
  else if (faults.length > 0)
    errors.push(field.invalid(path, name, `authorizer name is invalid: ${faults.join(", ")}`));
  seen.add(name);
  return name;
}

function webhookOf(webhook: JsonObject, path: FieldPath, errors: FieldError[]): WebhookSettings | undefined {
  onlyFields(webhook, WEBHOOK_FIELDS, path, errors);
  const before = errors.length;
  const timeoutMs = duration(webhook.timeout, undefined, path.child("timeout"), errors);
  if (timeoutMs > MAX_TIMEOUT_MS)
    errors.push(field.invalid(path.child("timeout"), textOf(webhook.timeout), "must be > 0s and <= 30s"));
  const authorizedTtlMs = duration(webhook.authorizedTTL, 5 * 60_000, path.child("authorizedTTL"), errors);
  const unauthorizedTtlMs = duration(webhook.unauthorizedTTL, 30_000, path.child("unauthorizedTTL"), errors);
  const version = textOf(webhook.subjectAccessReviewVersion);
  const knowsVersion = isOneOf(version, ["v1", "v1beta1"] as const, path.child("subjectAccessReviewVersion"), errors);
  const policy = textOf(webhook.failurePolicy);
  isOneOf(policy, ["NoOpinion", "Deny"] as const, path.child("failurePolicy"), errors);
  const kubeConfigFile = connectionOf(objectOf(webhook.connectionInfo), path.child("connectionInfo"), errors);
  const matchConditions = conditionsOf(webhook, path, errors);
  if (errors.length > before || !knowsVersion) return undefined;
  return {
    kubeConfigFile,
    version,
    timeoutMs,
    authorizedTtlMs: webhook.cacheAuthorizedRequests === false ? 0 : authorizedTtlMs,
    unauthorizedTtlMs: webhook.cacheUnauthorizedRequests === false ? 0 : unauthorizedTtlMs,
    onFailure: policy === "Deny" ? "deny" : "noOpinion",
    matchConditions,
  };
}

function connectionOf(info: JsonObject, path: FieldPath, errors: FieldError[]): string {
  onlyFields(info, ["type", "kubeConfigFile"], path, errors);
  const type = textOf(info.type);
  const file = textOf(info.kubeConfigFile);
  // InClusterConfig: this server does not run in a Pod of the cluster that it serves.
  if (!isOneOf(type, ["KubeConfigFile"] as const, path.child("type"), errors)) return file;
  const where = path.child("kubeConfigFile");
  if (file === "") errors.push(field.required(where));
  else if (!isAbsolute(file)) errors.push(field.invalid(where, file, "must be an absolute path"));
  return file;
}

function conditionsOf(webhook: JsonObject, path: FieldPath, errors: FieldError[]): readonly string[] {
  const conditions = listOf(webhook.matchConditions);
  const where = path.child("matchConditions");
  const version = textOf(webhook.matchConditionSubjectAccessReviewVersion);
  const ofVersion = path.child("matchConditionSubjectAccessReviewVersion");
  if (version !== "" && version !== "v1") errors.push(field.notSupported(ofVersion, version, ["v1"]));
  if (version === "" && conditions.length > 0)
    errors.push(field.required(ofVersion, "required if match conditions are specified"));
  if (conditions.length > MAX_MATCH_CONDITIONS) {
    errors.push(field.tooMany(where, conditions.length, MAX_MATCH_CONDITIONS));
    return [];
  }
  const seen = new Set<string>();
  return conditions.map((condition, i) => {
    const expression = textOf(objectOf(condition).expression);
    const at = where.index(i).child("expression");
    if (expression.trim() === "") errors.push(field.required(at));
    else if (seen.has(expression)) errors.push(field.duplicate(at, expression));
    seen.add(expression);
    return expression;
  });
}

/** `missing`: the value for nothing or zero; undefined: the field is required. */
function duration(value: Json | undefined, missing: number | undefined, path: FieldPath, errors: FieldError[]): number {
  const text = textOf(value);
  let ms = 0;
  try {
    ms = text === "" ? 0 : durationMs(text);
  } catch (error) {
    errors.push(field.invalid(path, text, (error as Error).message));
    return 0;
  }
  if (ms < 0) errors.push(field.invalid(path, text, "must be > 0s"));
  else if (ms === 0 && missing === undefined) errors.push(field.required(path));
  return ms === 0 ? (missing ?? 0) : ms;
}

function isOneOf<T extends string>(
  value: string,
  known: readonly T[],
  path: FieldPath,
  errors: FieldError[],
): value is T {
  if ((known as readonly string[]).includes(value)) return true;
  errors.push(value === "" ? field.required(path) : field.notSupported(path, value, known));
  return false;
}
