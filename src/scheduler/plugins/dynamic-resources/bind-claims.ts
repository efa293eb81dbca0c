/**
 * Writes the allocation of a claim and its reservation for a Pod.
 *
 *     finalizer ══► allocation and reservedFor, in one update of the status
 *
 * 1. The finalizer is there before the allocation: an allocated claim is never deleted while it is in use.
 * 2. After a conflict the claim is read again. Benign changes are kept; a claim that is deleted or allocated by then
 *    fails.
 * 3. Whether the claim can be reserved once more is checked by the API server.
 */
import { type core, isStatusError, kinds, type resource } from "#api";
import type { Clock, Random } from "#base";
import type { Client } from "#client";
import { type Claim, claimText, FINALIZER } from "./pod-claims.ts";

/** retry.DefaultRetry of client-go. */
const TRIES = 5;
const RETRY_MS = 10;

export interface ClaimWriter {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether allocations have their time, from which binding conditions time out. */
  readonly isTimed: boolean;
}

export async function bindClaim(
  first: Claim,
  allocation: resource.AllocationResult | undefined,
  pod: core.Pod,
  { client, clock, random, isTimed }: ClaimWriter,
  signal: AbortSignal,
): Promise<Claim> {
  const claims = client.of(kinds.ResourceClaim).in(first.metadata.namespace ?? "");
  const text = claimText(first);
  let claim = first;
  for (let left = TRIES; ; left--) {
    try {
      if (claim.metadata.deletionTimestamp !== undefined) throw new Error(`claim ${text} got deleted in the meantime`);
      if (allocation !== undefined && claim.status?.allocation !== undefined)
        throw new Error(`claim ${text} got allocated elsewhere in the meantime`);
      const { finalizers = [] } = claim.metadata;
      if (allocation !== undefined && !finalizers.includes(FINALIZER)) {
        const held = { ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers, FINALIZER] } };
        claim = await described(`add finalizer to claim ${text}`, claims.update(held, { signal }));
      }
      const what = allocation === undefined ? "reservation" : "allocation and reservation";
      const reserved = withReservation(claim, allocation, pod, isTimed ? clock.now() : undefined);
      return await described(`add ${what} to claim ${text}`, claims.updateStatus(reserved, { signal }));
    } catch (error) {
      if (left <= 1 || !isStatusError(causeOf(error), "Conflict")) throw error;
      await clock.sleep(RETRY_MS * (1 + random.next() * 0.1), signal);
      const name = first.metadata.name ?? "";
      claim = await described(`get updated claim ${text} after conflict`, claims.get(name, { signal }));
    }
  }
}

function withReservation(
  claim: Claim,
  allocation: resource.AllocationResult | undefined,
  { metadata: { name = "", uid = "" } }: core.Pod,
  nowMs: number | undefined,
): Claim {
  const { status } = claim;
  const reservedFor = [...(status?.reservedFor ?? []), { resource: "pods", name, uid }];
  if (allocation === undefined) return { ...claim, status: { ...status, reservedFor } };
  const time = nowMs === undefined ? {} : { allocationTimestamp: `${new Date(nowMs).toISOString().slice(0, 19)}Z` };
  return { ...claim, status: { ...status, allocation: { ...allocation, ...time }, reservedFor } };
}

/** A refusal with what was tried; the refusal itself is the cause. */
async function described<T>(what: string, request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw new Error(`${what}: ${error.message}`, { cause: error });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/** Removes a Pod from the consumers, without needing the latest claim. */
export async function removeReservation(
  { metadata }: Claim,
  pod: core.Pod,
  { client }: Pick<ClaimWriter, "client">,
  signal: AbortSignal,
): Promise<void> {
  const claims = client.of(kinds.ResourceClaim).in(metadata.namespace ?? "");
  const reservedFor = [{ $patch: "delete", uid: pod.metadata.uid ?? "" }];
  const object = { metadata: { uid: metadata.uid ?? "" }, status: { reservedFor } };
  try {
    await claims.subresource(metadata.name ?? "", "status").patch({ type: "strategic", object }, { signal });
  } catch (error) {
    // The claim is gone, or another one by now.
    if (!isStatusError(error, "NotFound") && !isStatusError(error, "Conflict")) throw error;
  }
}

/** Frees the devices of a claim that nobody else uses. */
export async function deallocate(
  claim: Claim,
  { client }: Pick<ClaimWriter, "client">,
  signal: AbortSignal,
): Promise<void> {
  const { allocation: _, reservedFor: __, devices: ___, ...status } = claim.status ?? {};
  await client
    .of(kinds.ResourceClaim)
    .in(claim.metadata.namespace ?? "")
    .updateStatus({ ...claim, status }, { signal });
}
