/**
 * Writes the status of Ingresses: the addresses where they are served. All replicas write the same.
 */
import { isStatusError, kinds, type networking } from "#api";
import type { Logger } from "#base";
import { type Client, objectKey } from "#client";

type Address = networking.IngressLoadBalancerIngress;

/** `192.0.2.1` or `ingress.example.org`. */
export function addressOf(text: string): Address {
  return /^[\d.]+$|:/.test(text) ? { ip: text } : { hostname: text };
}

export function needsStatus({ status }: networking.Ingress, wanted: readonly Address[]): boolean {
  const textOf = (addresses: readonly Address[]) =>
    addresses.map(({ ip = "", hostname = "" }) => `${ip} ${hostname}`).join();
  return textOf(status?.loadBalancer?.ingress ?? []) !== textOf(wanted);
}

/** False if a write failed and has to be retried. */
export async function writeStatus(
  client: Client,
  ingresses: readonly networking.Ingress[],
  addressesOf: (ingress: networking.Ingress) => readonly Address[],
  log: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  let isDone = true;
  for (const ingress of ingresses) {
    const wanted = addressesOf(ingress);
    if (!needsStatus(ingress, wanted)) continue;
    const status = { ...ingress.status, loadBalancer: { ...ingress.status?.loadBalancer, ingress: wanted } };
    try {
      await client
        .of(kinds.Ingress)
        .in(ingress.metadata.namespace ?? "")
        .updateStatus({ ...ingress, status }, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      // The watch delivers its next version, or its deletion.
      if (isStatusError(error) && (error.reason === "Conflict" || error.reason === "NotFound")) continue;
      isDone = false;
      log.warn("the status of an Ingress could not be written", { ingress: objectKey(ingress), error });
    }
  }
  return isDone;
}
