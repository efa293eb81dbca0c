/**
 * The Lease by which an API server says that it is there: in kube-system, named after its host and port, renewed while
 * it runs.
 */
import { createHash } from "node:crypto";
import { formatMicroTime, instantOf, type KubeObject } from "#api";
import { Ensure, type Wanted } from "../loopback/ensure.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";

const RENEW_MS = 10_000;
const DURATION_SECONDS = 3600;
const NAMESPACE = "kube-system";
const PEER_ADDRESS = "kubernetes.io/peer-advertise-address";
const IDENTITY = { "apiserver.kubernetes.io/identity": "kube-apiserver" } as const;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

export interface Identity {
  readonly hostname: string;
  readonly port: number;
  readonly address?: string | undefined;
  /** Another one for each start. */
  readonly uid: string;
}

interface Lease extends KubeObject {
  readonly spec?: { readonly renewTime?: string; readonly leaseDurationSeconds?: number };
}

/** `apiserver-` and 26 letters and digits that stand for the server. */
export function identityName({ hostname, port }: Identity): string {
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
  const metadata = { name, namespace: NAMESPACE, labels, ...(annotations && { annotations }) };
  return {
    group: "coordination.k8s.io",
    plural: "leases",
    object: { metadata, spec } as KubeObject,
    revise: (found) =>
      ({ ...found, metadata: { ...found.metadata, labels, ...(annotations && { annotations }) }, spec }) as KubeObject,
  };
}

/** Addresses of the other servers whose Lease has not run out. */
export function peerAddresses(resources: Resources, own: Identity, now: number): readonly string[] {
  const leases = resources.find("coordination.k8s.io", "v1", "leases");
  if (leases === undefined) return [];
  const found: string[] = [];
  for (const stored of leases.readable({ from: `${NAMESPACE}/apiserver-`, before: `${NAMESPACE}/apiserver.` })) {
    const { metadata, spec } = leases.read(stored) as Lease;
    const until = Date.parse(spec?.renewTime ?? "") + (spec?.leaseDurationSeconds ?? 0) * 1000;
    const address = metadata.annotations?.[PEER_ADDRESS];
    if (metadata.name === identityName(own) || address === undefined || !(until > now)) continue;
    found.push(address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, ""));
  }
  return found;
}

/** Runs until its signal aborts. */
export async function renewIdentity(
  context: ServerContext,
  resources: Resources,
  identity: Identity,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = context;
  const ensure = new Ensure(context, resources);
  while (!signal.aborted) {
    try {
      await clock.sleep(RENEW_MS, signal);
      await ensure.one(identityLease(identity, clock.now()));
    } catch (error) {
      if (signal.aborted) return;
      log.warn("the lease of this API server could not be renewed; trying again", { error });
    }
  }
}
