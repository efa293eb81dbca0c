/** Reads and validates the extenders of the file. */
import { at, decodeBase64, durationMs, type FieldError, field } from "#api";
import { ConfigurationError, type ExtenderConfig } from "../framework/index.ts";
import { checkExtendedResource } from "./check-names.ts";
import type { FileExtender } from "./file.ts";

const DEFAULT_TIMEOUT_MS = 5_000;

export type ReadFile = (path: string) => string;

export function checkExtenders(extenders: readonly FileExtender[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const managed = new Set<string>();
  for (const [i, { prioritizeVerb = "", weight = 0, managedResources = [] }] of extenders.entries()) {
    const path = at("extenders").index(i);
    if (prioritizeVerb !== "" && weight <= 0)
      errors.push(field.invalid(path.child("weight"), weight, "must have a positive weight applied to it"));
    for (const [j, { name = "" }] of managedResources.entries()) {
      const where = path.child("managedResources").index(j).child("name");
      errors.push(...checkExtendedResource(name, where));
      if (managed.has(name)) errors.push(field.invalid(where, name, "duplicate extender managed resource name"));
      managed.add(name);
    }
  }
  const binders = extenders.filter(({ bindVerb = "" }) => bindVerb !== "").length;
  if (binders > 1)
    errors.push(
      field.invalid(
        at("extenders"),
        `found ${binders} extenders implementing bind`,
        "only one extender can implement bind",
      ),
    );
  return errors;
}

/** `readFile` throws if there is no such file. */
export function extenderConfig(extender: FileExtender, index: number, readFile: ReadFile): ExtenderConfig {
  const { urlPrefix = "", httpTimeout = "0s", managedResources = [] } = extender;
  checkUrl(urlPrefix, index);
  const timeoutMs = durationMs(httpTimeout);
  const tls = tlsOf(extender, index, readFile);
  return {
    urlPrefix,
    filterVerb: extender.filterVerb ?? "",
    prioritizeVerb: extender.prioritizeVerb ?? "",
    bindVerb: extender.bindVerb ?? "",
    preemptVerb: extender.preemptVerb ?? "",
    weight: extender.weight ?? 0,
    timeoutMs: timeoutMs === 0 ? DEFAULT_TIMEOUT_MS : timeoutMs,
    nodeCacheCapable: extender.nodeCacheCapable ?? false,
    ignorable: extender.ignorable ?? false,
    managedResources: managedResources.map(({ name = "", ignoredByScheduler = false }) => ({
      name,
      ignoredByScheduler,
    })),
    tls,
  };
}

function checkUrl(urlPrefix: string, index: number): void {
  const url = URL.canParse(urlPrefix) ? new URL(urlPrefix) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError(
      field.fieldErrorText(
        field.invalid(at("extenders").index(index).child("urlPrefix"), urlPrefix, "must be an http or https URL"),
      ),
    );
}

/** Like kube-scheduler, HTTPS without a CA does not verify the server. */
function tlsOf(
  { tlsConfig, enableHTTPS = false }: FileExtender,
  index: number,
  readFile: ReadFile,
): ExtenderConfig["tls"] {
  if (tlsConfig === undefined && !enableHTTPS) return undefined;
  const { insecure = false, serverName, certFile, keyFile, caFile, certData, keyData, caData } = tlsConfig ?? {};
  const path = at("extenders").index(index).child("tlsConfig");
  const pem = (data: string | undefined, file: string | undefined, name: string): string | undefined => {
    if (data !== undefined && data !== "") return new TextDecoder().decode(decodeBase64(data));
    if (file === undefined || file === "") return undefined;
    try {
      return readFile(file);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ConfigurationError(field.fieldErrorText(field.invalid(path.child(name), file, why)), { cause: error });
    }
  };
  const caPem = pem(caData, caFile, "caFile");
  const certPem = pem(certData, certFile, "certFile");
  const keyPem = pem(keyData, keyFile, "keyFile");
  if ((certPem === undefined) !== (keyPem === undefined))
    throw new ConfigurationError(
      field.fieldErrorText(field.invalid(path, undefined, "a certificate needs its key and a key its certificate")),
    );
  if (insecure && caPem !== undefined)
    throw new ConfigurationError(`${path}: specifying a root certificates file with the insecure flag is not allowed`);
  return {
    insecure: insecure || (enableHTTPS && caPem === undefined),
    serverName,
    caPem,
    certPem,
    keyPem,
  };
}
