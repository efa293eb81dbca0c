/**
 * Secrets for drivers: parameters of a StorageClass name them, directly or by templates.
 *
 *     csi.storage.k8s.io/provisioner-secret-name: creds-${pvc.name}
 *     csi.storage.k8s.io/provisioner-secret-namespace: ${pvc.namespace}
 */
import { type core, kinds } from "#api";
import type { Client } from "#client";
import { messageOf } from "./final-errors.ts";

export const PREFIX = "csi.storage.k8s.io/";
/** What the secrets are for. */
export const SECRET_USES = [
  "provisioner",
  "controller-publish",
  "node-stage",
  "node-publish",
  "controller-expand",
  "node-expand",
] as const;
export type SecretUse = (typeof SECRET_USES)[number];

type Parameters = Readonly<Record<string, string>>;
type Reference = Required<Pick<core.SecretReference, "name" | "namespace">>;

export interface SecretSubject {
  readonly volumeName: string;
  readonly claim: core.PersistentVolumeClaim;
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Throws if the parameters are incomplete or do not give names. Undefined if they name no secret. */
export function secretReference(use: SecretUse, parameters: Parameters, subject: SecretSubject): Reference | undefined {
  const named = pairOf(parameters, use) ?? pairOf(parameters, undefined);
  if (named === undefined) return undefined;
  const { volumeName, claim } = subject;
  const { name: claimName = "", namespace: claimNamespace = "", annotations = {} } = claim.metadata;
  const tokens: Record<string, string> = { "pv.name": volumeName, "pvc.namespace": claimNamespace };
  const namespace = resolved(named.namespace, tokens);
  tokens["pvc.name"] = claimName;
  // A volume is deleted after its claim, whose annotations are not known any more then.
  if (use !== "provisioner")
    for (const [key, value] of Object.entries(annotations)) tokens[`pvc.annotations['${key}']`] = value;
  const name = resolved(named.name, tokens);
  for (const [part, value] of Object.entries({ name, namespace }))
    if (!SUBDOMAIN.test(value)) throw new Error(`${use} secret ${part} resolved to "${value}", which is not valid`);
  return { name, namespace };
}

export async function readSecret(
  client: Client,
  reference: core.SecretReference | undefined,
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  if (reference === undefined) return undefined;
  const { name = "", namespace = "" } = reference;
  try {
    const { data = {} } = await client.of(kinds.Secret).in(namespace).get(name, { signal });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  } catch (error) {
    throw new Error(`error getting secret ${name} in namespace ${namespace}: ${messageOf(error)}`, { cause: error });
  }
}

/** Parameters for the driver: without those for sidecars. Throws for unknown ones with the reserved prefix. */
export function driverParameters(parameters: Parameters): Record<string, string> {
  const known = new Set([
    `${PREFIX}fstype`,
    ...[...SECRET_USES.map((use) => `${use}-secret`), "secret"].flatMap((secret) => [
      `${PREFIX}${secret}-name`,
      `${PREFIX}${secret}-namespace`,
    ]),
  ]);
  const own = Object.entries(parameters).filter(([key]) => {
    if (!key.startsWith(PREFIX)) return true;
    if (known.has(key)) return false;
    throw new Error(`found unknown parameter key "${key}" with reserved namespace ${PREFIX}`);
  });
  return Object.fromEntries(own);
}

/** `use` undefined: the secret of all uses without one of their own. */
function pairOf(parameters: Parameters, use: SecretUse | undefined): Reference | undefined {
  const key = `${PREFIX}${use === undefined ? "" : `${use}-`}secret`;
  const { [`${key}-name`]: name, [`${key}-namespace`]: namespace } = parameters;
  if (name === undefined && namespace === undefined) return undefined;
  if (name === undefined || namespace === undefined || name === "" || namespace === "")
    throw new Error(`either name and namespace for ${use ?? "default"} secrets specified, both must be specified`);
  return { name, namespace };
}

function resolved(template: string, tokens: Readonly<Record<string, string>>): string {
  const unknown: string[] = [];
  const text = template.replaceAll(/\$\{([^}]*)\}|\$([A-Za-z_]+)/g, (_, braced?: string, bare?: string) => {
    const token = braced ?? bare ?? "";
    if (!Object.hasOwn(tokens, token)) unknown.push(token);
    return tokens[token] ?? "";
  });
  if (unknown.length > 0)
    throw new Error(`error resolving value "${template}": invalid tokens: [${unknown.join(" ")}]`);
  return text;
}
