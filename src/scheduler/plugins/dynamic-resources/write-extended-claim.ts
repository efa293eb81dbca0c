/** Writes the claim for a Pod's extended resources, and tells the Pod's status which container uses what of it. */
import { type core, isStatusError, kinds, type resource } from "#api";
import { bindClaim, type ClaimWriter } from "./bind-claims.ts";
import type { ClaimCache } from "./claim-cache.ts";
import { newExtendedClaim } from "./extended-resources.ts";
import { type Claim, FINALIZER } from "./pod-claims.ts";
import type { ExtendedState } from "./pod-state.ts";

export interface ExtendedBinding {
  readonly pod: core.Pod;
  readonly allocation: resource.AllocationResult | undefined;
  readonly claims: ClaimCache;
  readonly writer: ClaimWriter;
}

/** What was created is in `extended.written`, also if a later step fails. */
export async function writeExtended(
  extended: ExtendedState,
  { pod, allocation, claims, writer }: ExtendedBinding,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name = "" } = pod.metadata;
  const { client } = writer;
  const created = await client
    .of(kinds.ResourceClaim)
    .in(namespace)
    .create(newExtendedClaim(extended.claim), { signal });
  extended.written = created;
  extended.written = await bindClaim(created, allocation, pod, writer, signal);
  claims.created(extended.claim, extended.written);
  const extendedResourceClaimStatus = {
    resourceClaimName: created.metadata.name ?? "",
    requestMappings: extended.mappings,
  };
  const object = { status: { extendedResourceClaimStatus } };
  await client
    .of(kinds.Pod)
    .in(namespace)
    .subresource(name, "status")
    .patch({ type: "strategic", object: JSON.parse(JSON.stringify(object)) }, { signal });
}

/** A claim whose Pod could not be bound. */
export async function deleteExtended(
  { metadata }: Claim,
  { client }: Pick<ClaimWriter, "client">,
  signal: AbortSignal,
): Promise<void> {
  const claims = client.of(kinds.ResourceClaim).in(metadata.namespace ?? "");
  const name = metadata.name ?? "";
  try {
    const now = await claims.get(name, { signal });
    if (now.metadata.uid !== metadata.uid) return;
    const finalizers = (now.metadata.finalizers ?? []).filter((each) => each !== FINALIZER);
    const { allocation: _, reservedFor: __, ...status } = now.status ?? {};
    const free = await claims.updateStatus({ ...now, status }, { signal });
    await claims.update({ ...free, metadata: { ...free.metadata, finalizers } }, { signal });
    await claims.delete(name, { signal });
  } catch (error) {
    if (!isStatusError(error, "NotFound")) throw error;
  }
}
