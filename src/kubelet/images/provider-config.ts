/** CredentialProviderConfig (kubelet.config.k8s.io/v1): which programs give credentials for which images. Pure. */
import { parse } from "yaml";
import { isObject, parseDuration } from "#api";

export interface CredentialProvider {
  /** Its program in the folder of programs. */
  readonly name: string;
  readonly matchImages: readonly string[];
  readonly defaultCacheMs: number;
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly tokenAttributes?: TokenAttributes | undefined;
}

export interface TokenAttributes {
  readonly audience: string;
  readonly cacheType: "ServiceAccount" | "Token";
  readonly requireServiceAccount: boolean;
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

const GROUP = "credentialprovider.kubelet.k8s.io";
export const PROVIDER_VERSIONS = [`${GROUP}/v1`, `${GROUP}/v1alpha1`, `${GROUP}/v1beta1`];
const CONFIG_VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `kubelet.config.k8s.io/${version}`);
const FIELDS = ["name", "matchImages", "defaultCacheDuration", "apiVersion", "args", "env", "tokenAttributes"];
const TOKEN_FIELDS = [
  "serviceAccountTokenAudience",
  "cacheType",
  "requireServiceAccount",
  "requiredServiceAccountAnnotationKeys",
  "optionalServiceAccountAnnotationKeys",
];

type Fields = Readonly<Record<string, unknown>>;

/** `texts`: of one file, or of all files of a folder. Throws Error with all that is wrong. */
export function parseProviders(texts: readonly string[]): readonly CredentialProvider[] {
  const problems: string[] = [];
  const providers = texts.flatMap((text) => providersIn(text, problems));
  if (providers.length === 0 && problems.length === 0)
    problems.push("providers: Required value: at least 1 item in plugins is required");
  for (const [at, { name }] of providers.entries()) {
    if (providers.findIndex((each) => each.name === name) < at)
      problems.push(`providers.name: Duplicate value: ${JSON.stringify(name)}`);
  }
  if (problems.length > 0) throw new Error(problems.join("; "));
  return providers;
}

function providersIn(text: string, problems: string[]): readonly CredentialProvider[] {
  const document: unknown = parse(text);
  if (!isFields(document) || document.kind !== "CredentialProviderConfig") {
    problems.push("it must be of the kind CredentialProviderConfig");
    return [];
  }
  if (!CONFIG_VERSIONS.some((version) => version === document.apiVersion))
    problems.push(`apiVersion: must be one of ${CONFIG_VERSIONS.join(", ")}`);
  unknown(document, ["apiVersion", "kind", "providers"], "", problems);
  const { providers } = document;
  if (providers === undefined || providers === null) return [];
  if (!Array.isArray(providers)) {
    problems.push("providers: must be a list");
    return [];
  }
  return providers.flatMap((each, at) => {
    if (isFields(each)) return [provider(each, `providers[${at}]`, problems)];
    problems.push(`providers[${at}]: must be an object`);
    return [];
  });
}

function provider(fields: Fields, path: string, problems: string[]): CredentialProvider {
  unknown(fields, FIELDS, `${path}.`, problems);
  const { apiVersion = "", env = [], tokenAttributes } = fields;
  const name = text(fields.name, `${path}.name`, problems);
  if (name === "") problems.push(`${path}.name: Required value`);
  if (name.includes("/") || name.includes(" ") || name === "." || name === "..")
    problems.push(`${path}.name: Invalid value: ${JSON.stringify(name)}: must be the name of a file`);
  if (apiVersion === "") problems.push(`${path}.apiVersion: Required value`);
  else if (!PROVIDER_VERSIONS.some((version) => version === apiVersion)) {
    const known = PROVIDER_VERSIONS.map((version) => JSON.stringify(version)).join(", ");
    problems.push(`${path}.apiVersion: Unsupported value: ${JSON.stringify(apiVersion)}: supported values: ${known}`);
  }
  const matchImages = strings(fields.matchImages, `${path}.matchImages`, problems);
  if (matchImages.length === 0)
    problems.push(`${path}.matchImages: Required value: at least 1 item in matchImages is required`);
  const variables = Array.isArray(env) && env.every((each) => isFields(each)) ? env : undefined;
  if (variables === undefined) problems.push(`${path}.env: must be a list of name and value`);
  return {
    name,
    matchImages,
    defaultCacheMs: duration(fields.defaultCacheDuration, `${path}.defaultCacheDuration`, problems),
    apiVersion: String(apiVersion),
    args: strings(fields.args, `${path}.args`, problems),
    env: (variables ?? []).map((each: Fields, at) => {
      unknown(each, ["name", "value"], `${path}.env[${at}].`, problems);
      return { name: String(each.name ?? ""), value: String(each.value ?? "") };
    }),
    ...(tokenAttributes !== undefined &&
      tokenAttributes !== null && {
        tokenAttributes: attributes(tokenAttributes, String(apiVersion), `${path}.tokenAttributes`, problems),
      }),
  };
}

function attributes(value: unknown, apiVersion: string, path: string, problems: string[]): TokenAttributes {
  const fields = isFields(value) ? value : {};
  if (!isFields(value)) problems.push(`${path}: must be an object`);
  unknown(fields, TOKEN_FIELDS, `${path}.`, problems);
  if (apiVersion !== `${GROUP}/v1`)
    problems.push(`${path}: Forbidden: tokenAttributes is only supported for ${GROUP}/v1 API version`);
  const audience = text(fields.serviceAccountTokenAudience, `${path}.serviceAccountTokenAudience`, problems);
  if (audience === "") problems.push(`${path}.serviceAccountTokenAudience: Required value`);
  const { requireServiceAccount, cacheType } = fields;
  if (typeof requireServiceAccount !== "boolean") problems.push(`${path}.requireServiceAccount: Required value`);
  if (cacheType !== "ServiceAccount" && cacheType !== "Token")
    problems.push(`${path}.cacheType: must be ServiceAccount or Token`);
  const keys = (name: string) => {
    const found = strings(fields[name], `${path}.${name}`, problems);
    if (new Set(found).size < found.length) problems.push(`${path}.${name}: has a duplicate`);
    return found;
  };
  const requiredAnnotations = keys("requiredServiceAccountAnnotationKeys");
  const optionalAnnotations = keys("optionalServiceAccountAnnotationKeys");
  if (requireServiceAccount === false && requiredAnnotations.length > 0)
    problems.push(
      `${path}.requiredServiceAccountAnnotationKeys: Forbidden: requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set`,
    );
  if (requiredAnnotations.some((key) => optionalAnnotations.includes(key)))
    problems.push(`${path}: annotation keys cannot be both required and optional`);
  return {
    audience,
    cacheType: cacheType === "Token" ? "Token" : "ServiceAccount",
    requireServiceAccount: requireServiceAccount === true,
    requiredAnnotations,
    optionalAnnotations,
  };
}

function duration(value: unknown, path: string, problems: string[]): number {
  if (value === undefined || value === null) {
    problems.push(`${path}: Required value`);
    return 0;
  }
  const ms = durationMs(value);
  if (ms === undefined || ms < 0) problems.push(`${path}: Invalid value: ${JSON.stringify(value)}: must be at least 0`);
  return ms ?? 0;
}

/** Undefined if it is none. */
export function durationMs(value: unknown): number | undefined {
  try {
    return Number(parseDuration(String(value))) / 1e6;
  } catch {
    return undefined;
  }
}

function text(value: unknown, path: string, problems: string[]): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") problems.push(`${path}: must be a string`);
  return String(value);
}

function strings(value: unknown, path: string, problems: string[]): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  problems.push(`${path}: must be a list of strings`);
  return [];
}

function unknown(fields: Fields, known: readonly string[], prefix: string, problems: string[]): void {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) problems.push(`unknown field ${JSON.stringify(`${prefix}${name}`)}`);
  }
}

function isFields(value: unknown): value is Fields {
  return isObject(value as never);
}
