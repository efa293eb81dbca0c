/**
 * The identity Lease of an API server: in kube-system, named after its host and port, renewed while it runs.
 */
import { createHash } from "node:crypto";
import { formatMicroTime, instantOf, type KubeObject } from "#api";
import type { Wanted } from "../loopback/ensure.ts";

const DURATION_SECONDS = 3600;
export const IDENTITY_NAMESPACE = "kube-system";
export const PEER_ADDRESS = "kubernetes.io/peer-advertise-address";
const IDENTITY = { "apiserver.kubernetes.io/identity": "kube-apiserver" } as const;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

export interface Identity {
  readonly hostname: string;
  readonly port: number;
  readonly address?: string | undefined;
  /** A new one for each start. */
  readonly uid: string;
}

/** `apiserver-` and a digest of host and port. */
export function identityName({ hostname, port }: Pick<Identity, "hostname" | "port">): string {
  const digest = createHash("sha256").update(`${hostname}:${port}`).digest().subarray(0, 16);
  let [bits, value, text] = [0, 0, ""];
  for (const byte of digest) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
  }
  return `apiserver-${text}${BASE32[(value << (5 - bits)) & 31]}`;
}

export function identityLease(identity: Identity, now: number): Wanted {
  const { hostname, port, address, uid } = identity;
  const name = identityName(identity);
  const spec = {
    holderIdentity: `${name}_${uid}`,
    leaseDurationSeconds: DURATION_SECONDS,
    renewTime: formatMicroTime(instantOf(now)),
  };
  const annotations =
    address === undefined
      ? undefined
      : { [PEER_ADDRESS]: `${address.includes(":") ? `[${address}]` : address}:${port}` };
  const labels = { ...IDENTITY, "kubernetes.io/hostname": hostname };
  const metadata = { name, namespace: IDENTITY_NAMESPACE, labels, ...(annotations && { annotations }) };
  return {
    group: "coordination.k8s.io",
    plural: "leases",
    object: { metadata, spec } as KubeObject,
    revise: (found) =>
      ({ ...found, metadata: { ...found.metadata, labels, ...(annotations && { annotations }) }, spec }) as KubeObject,
  };
}
