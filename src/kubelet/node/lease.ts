/** A node's heartbeat: its Lease in kube-node-lease, renewed every 10 s and valid for 40 s. */
import { type coordination, type core, formatMicroTime, instantOf, isStatusError, kinds } from "#api";
import type { Clock } from "#base";
import type { Client, ResourceClient } from "#client";

export const LEASE_RENEW_MS = 10_000;
const DURATION_SECONDS = 40;
const NAMESPACE = "kube-node-lease";

export class NodeLease {
  readonly #leases: ResourceClient<coordination.Lease>;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #durationSeconds: number;
  /** As the API server returned it last. */
  #known: coordination.Lease | undefined;

  constructor(client: Client, clock: Clock, name: string, durationSeconds = DURATION_SECONDS) {
    this.#durationSeconds = durationSeconds;
    this.#leases = client.of(kinds.Lease).in(NAMESPACE);
    this.#clock = clock;
    this.#name = name;
  }

  /** A quarter of its duration. */
  get renewMs(): number {
    return this.#durationSeconds * 250;
  }

  /** Creates the Lease if there is none. `owner`: the Node, if it is known. */
  async renew(owner: core.Node | undefined, signal: AbortSignal): Promise<void> {
    const known = this.#known;
    // If somebody else has written or removed it meanwhile, the next attempt starts from what the API server has.
    this.#known = undefined;
    this.#known = known === undefined ? await this.#create(owner, signal) : await this.#update(known, owner, signal);
  }

  async #create(owner: core.Node | undefined, signal: AbortSignal): Promise<coordination.Lease> {
    const metadata = { name: this.#name, namespace: NAMESPACE, ...ownedBy(owner) };
    try {
      return await this.#leases.create({ metadata, spec: this.#spec() }, { signal });
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "AlreadyExists") throw error;
      return this.#update(await this.#leases.get(this.#name, { signal }), owner, signal);
    }
  }

  #update(
    { metadata }: coordination.Lease,
    owner: core.Node | undefined,
    signal: AbortSignal,
  ): Promise<coordination.Lease> {
    // Without managedFields, which the server would only have to compare.
    const { managedFields: _, ...own } = metadata;
    return this.#leases.update({ metadata: { ...own, ...ownedBy(owner) }, spec: this.#spec() }, { signal });
  }

  #spec(): coordination.LeaseSpec {
    return {
      holderIdentity: this.#name,
      leaseDurationSeconds: this.#durationSeconds,
      renewTime: formatMicroTime(instantOf(this.#clock.now())),
    };
  }
}

function ownedBy(node: core.Node | undefined): Pick<core.Node["metadata"], "ownerReferences"> {
  const { name = "", uid } = node?.metadata ?? {};
  return uid === undefined ? {} : { ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] };
}
