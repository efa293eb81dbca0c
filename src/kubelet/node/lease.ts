/** A node's sign of life: its Lease in kube-node-lease, renewed every 10 s and good for 40 s. */
import { type coordination, type core, isStatusError } from "#api";
import type { Clock } from "#base";
import type { Client, ResourceClient } from "#client";
import { Lease } from "../kinds.ts";

export const RENEW_MS = 10_000;
const DURATION_SECONDS = 40;
const NAMESPACE = "kube-node-lease";

export class NodeLease {
  readonly #leases: ResourceClient<coordination.Lease>;
  readonly #clock: Clock;
  readonly #name: string;
  #known: coordination.Lease | undefined;

  constructor(client: Client, clock: Clock, name: string) {
    this.#leases = client.of(Lease).in(NAMESPACE);
    this.#clock = clock;
    this.#name = name;
  }

  /** Makes it if there is none. `owner`: the Node, if it is known. */
  async renew(owner: core.Node | undefined, signal: AbortSignal): Promise<void> {
    const known = this.#known;
    // If somebody else has written it meanwhile, or it is gone, the next try starts from what there is.
    this.#known = undefined;
    this.#known = known === undefined ? await this.#made(owner, signal) : await this.#renewed(known, signal);
  }

  async #made(owner: core.Node | undefined, signal: AbortSignal): Promise<coordination.Lease> {
    try {
      return await this.#leases.create(this.#first(owner), { signal });
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "AlreadyExists") throw error;
      return this.#renewed(await this.#leases.get(this.#name, { signal }), signal);
    }
  }

  #renewed({ metadata }: coordination.Lease, signal: AbortSignal): Promise<coordination.Lease> {
    // Who owns which field is the server's to know: sent back, it would only have to be compared.
    const { managedFields: _, ...own } = metadata;
    return this.#leases.update({ metadata: own, spec: this.#spec() }, { signal });
  }

  #first(owner: core.Node | undefined): coordination.Lease {
    const { uid = "" } = owner?.metadata ?? {};
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: this.#name, uid }];
    const metadata = { name: this.#name, namespace: NAMESPACE, ...(uid !== "" && { ownerReferences }) };
    return { metadata, spec: this.#spec() };
  }

  #spec(): coordination.LeaseSpec {
    const renewTime = new Date(this.#clock.now()).toISOString().replace("Z", "000Z");
    return { holderIdentity: this.#name, leaseDurationSeconds: DURATION_SECONDS, renewTime };
  }
}
