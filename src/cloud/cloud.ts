/**
 * The interface of a cloud provider. A provider implements the parts that it has; controllers run for those parts only.
 *
 * 1. Every call may be repeated: it leaves existing things as they are.
 * 2. A failure is thrown; the controller records an Event and retries.
 */
import type { core } from "#api";

export interface Cloud {
  /** The scheme of provider ids: `local` in `local://node-1`. */
  readonly name: string;
  readonly instances?: Instances;
  readonly routes?: Routes;
  readonly loadBalancers?: LoadBalancers;
}

/** The machines behind Nodes. */
export interface Instances {
  /** Undefined: there is no such machine. */
  find(node: core.Node, signal: AbortSignal): Promise<Instance | undefined>;
}

export interface Instance {
  /** For example `local://node-1`. */
  readonly providerId: string;
  readonly type?: string;
  readonly zone?: string;
  readonly region?: string;
  readonly addresses: readonly core.NodeAddress[];
  readonly isShutDown: boolean;
}

/** Routes to the Pods of Nodes. */
export interface Routes {
  list(signal: AbortSignal): Promise<readonly Route[]>;
  create(route: Route, signal: AbortSignal): Promise<void>;
  delete(route: Route, signal: AbortSignal): Promise<void>;
}

export interface Route {
  readonly nodeName: string;
  /** The pod CIDR. */
  readonly destination: string;
}

export interface LoadBalancers {
  /**
   * Called once at the start with the addresses that a Service already has, for providers without state of their own.
   */
  adopt?(service: core.Service): void;
  /** Creates the load balancer, or updates it to match the Service. */
  ensure(service: core.Service, nodes: readonly core.Node[], signal: AbortSignal): Promise<core.LoadBalancerStatus>;
  /** Succeeds if there is none. */
  remove(service: core.Service, signal: AbortSignal): Promise<void>;
}
