/**
 * A server as one of the servers of its cluster: its identity Lease, and its share of the Service `kubernetes`.
 *
 *     join ──► Lease, Service, endpoints      keep ···► the same, every ten seconds      leave ──► endpoints without it
 *
 * 1. What others delete or change is put right within an interval.
 * 2. A server that stops removes its address first, so that clients are not sent to it. Where it is the only one, the
 *    address stays for its next start.
 * 3. A store that does not answer (an etcd without a quorum) holds up neither the end of `keep` nor `leave` for long.
 */
import { abortable, childController } from "#base";
import { DEFAULT_SERVICE_CIDR } from "../allocate/allocators.ts";
import { Ensure, type EnsureFailure } from "../loopback/ensure.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { countedAddresses, type EndpointReconcilerType, LivingPeers } from "./endpoint-addresses.ts";
import { type Identity, identityLease } from "./identity.ts";
import { isReachable, publishEndpoints, publishService } from "./kubernetes-service.ts";

const INTERVAL_MS = 10_000;
/** The others see an expired lease as well. */
const LEAVE_MS = 2_000;

export interface MembershipOptions {
  readonly context: ServerContext;
  readonly resources: Resources;
  readonly identity: Identity;
  readonly serviceCidrs?: readonly string[] | undefined;
  /** Of the Service. 0 or absent: it has none. */
  readonly nodePort?: number | undefined;
  /** Default: lease. */
  readonly reconciler?: EndpointReconcilerType | undefined;
  /** The number of servers, for `master-count`. Default: 1. */
  readonly count?: number | undefined;
  /** Decides about objects that cannot be created at the start. Default: the error is thrown. */
  readonly onFailure?: EnsureFailure | undefined;
  /** No other server has the store: its address stays when it stops. Default: if the store is not shared. */
  readonly isAlone?: boolean | undefined;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #peers: LivingPeers;
  /** The address, if others can reach it and the endpoints are this server's to write. */
  readonly #published: string | undefined;
  #left = false;

  constructor(options: MembershipOptions) {
    const { resources, identity, context, reconciler } = options;
    this.#options = options;
    this.#peers = new LivingPeers(resources, identity, context.clock);
    const { address } = identity;
    this.#published = reconciler === "none" || address === undefined || !isReachable(address) ? undefined : address;
  }

  async join(): Promise<void> {
    const { context, resources, onFailure } = this.#options;
    await this.#publish(new Ensure(context, resources, onFailure));
  }

  /** Runs until its signal aborts. */
  async keep(signal: AbortSignal): Promise<void> {
    const { context, resources } = this.#options;
    const { clock, log } = context;
    const ensure = new Ensure(context, resources);
    while (!signal.aborted) {
      try {
        await clock.sleep(INTERVAL_MS, signal);
        await abortable(this.#publish(ensure), signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("the lease and the endpoints of this API server could not be renewed; trying again", { error });
      }
    }
  }

  /** Never throws: a server that cannot tell the others stops all the same. */
  async leave(): Promise<void> {
    if (this.#left) return;
    const { context, resources, identity } = this.#options;
    const { isAlone = !context.sharedStore } = this.#options;
    this.#left = true;
    const own = this.#published;
    if (own === undefined || isAlone) return;
    const late = new Error(`the store did not answer within ${LEAVE_MS / 1000} s`);
    using limit = childController();
    const timer = context.clock.timer(LEAVE_MS, () => limit.abort(late));
    try {
      const rest = (present: readonly string[]) => present.filter((address) => address !== own);
      const published = publishEndpoints(new Ensure(context, resources), identity.port, rest, { create: false });
      await abortable(published, limit.signal);
    } catch (error) {
      context.log.warn("the address of this API server could not be removed from its endpoints", { error });
    } finally {
      timer.cancel();
    }
  }

  async #publish(ensure: Ensure): Promise<void> {
    const { context, identity, serviceCidrs = [], nodePort } = this.#options;
    const [serviceCidr = DEFAULT_SERVICE_CIDR] = serviceCidrs;
    const { port } = identity;
    await Promise.all([
      ensure.one(identityLease(identity, context.clock.now())),
      publishService(ensure, { serviceCidr, port, nodePort }),
    ]);
    const own = this.#published;
    if (own === undefined || this.#left) return;
    await publishEndpoints(ensure, port, (present) => this.#addresses(present, own), { create: true });
  }

  #addresses(present: readonly string[], own: string): readonly string[] {
    // A renewal that is under way while the server leaves does not bring its address back.
    if (this.#left) return present;
    const { reconciler = "lease", count = 1 } = this.#options;
    if (reconciler === "master-count") return countedAddresses(present, own, count);
    return [...new Set([own, ...this.#peers.addresses()])].sort();
  }
}
