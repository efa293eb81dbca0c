/** What each built-in signer signs: names and usages, with the error messages of Kubernetes. */
import { table } from "#base";
import { API_CLIENT, KUBELET_CLIENT, KUBELET_SERVING, LEGACY_UNKNOWN, type RequestedNames } from "./authority.ts";

const NODES = "system:nodes";
const NODE_PREFIX = "system:node:";
const SIGNATURE = "digital signature";
const ENCIPHERMENT = "key encipherment";
const CLIENT = "client auth";
const SERVER = "server auth";

type Rule = (names: RequestedNames, usages: readonly string[]) => string | undefined;

const RULES: Readonly<Record<string, Rule>> = table({
  [KUBELET_CLIENT]: whyNoKubeletClient,
  [KUBELET_SERVING]: whyNoKubeletServing,
  [API_CLIENT]: (_, usages) => {
    const other = usages.find((usage) => ![SIGNATURE, ENCIPHERMENT, CLIENT].includes(usage));
    if (other !== undefined) return `invalid usage for client certificate: ${other}`;
    return usages.includes(CLIENT) ? undefined : `missing required usage for client certificate: ${CLIENT}`;
  },
  [LEGACY_UNKNOWN]: () => undefined,
});

export const SIGNERS: readonly string[] = Object.keys(RULES);

/** Undefined: the request may be signed. */
export function whyNotSigned(signer: string, names: RequestedNames, usages: readonly string[]): string | undefined {
  return RULES[signer]?.(names, usages);
}

export function whyNoKubeletClient(names: RequestedNames, usages: readonly string[]): string | undefined {
  if (names.organizations.join() !== NODES) return "subject organization is not system:nodes";
  if (names.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (names.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (names.ipAddresses.length > 0) return "IP subjectAltNames are not allowed";
  if (names.uris.length > 0) return "URI subjectAltNames are not allowed";
  if (!names.commonName.startsWith(NODE_PREFIX)) return "subject common name does not begin with system:node:";
  return whyUsages(usages, CLIENT);
}

function whyNoKubeletServing(names: RequestedNames, usages: readonly string[]): string | undefined {
  if (names.organizations.join() !== NODES) return "subject organization is not system:nodes";
  if (names.dnsNames.length === 0 && names.ipAddresses.length === 0) return "DNS or IP subjectAltName is required";
  if (names.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (names.uris.length > 0) return "URI subjectAltNames are not allowed";
  const usage = whyUsages(usages, SERVER);
  if (usage !== undefined) return usage;
  return names.commonName.startsWith(NODE_PREFIX) ? undefined : "subject common name does not begin with system:node:";
}

/** Key encipherment is optional: only RSA keys have it. */
function whyUsages(usages: readonly string[], purpose: string): string | undefined {
  const asked = new Set(usages);
  const [all, without] = [
    [purpose, SIGNATURE, ENCIPHERMENT],
    [purpose, SIGNATURE],
  ];
  const fits = [all, without].some(
    (wanted) => asked.size === wanted.length && wanted.every((usage) => asked.has(usage)),
  );
  return fits ? undefined : `usages did not match [${all.join(" ")}]`;
}
