/**
 * What a cloud can do for a cluster. A provider implements the parts that it has; controllers exist for those parts alone.
 *
 * 1. Every call may be repeated: what is there already is left as it is.
 * 2. What cannot be done throws; it is tried again later, and told in an Event.
 */
import type { core } from "#api";

export interface Cloud {
  /** As provider ids begin with: `local://node-1`. */
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
  /** Such as `local://node-1`. */
  readonly providerId: string;
  readonly type?: string;
  readonly zone?: string;
  readonly region?: string;
  readonly addresses: readonly core.NodeAddress[];
  readonly isShutDown: boolean;
}

/** Ways to the Pods of Nodes. */
export interface Routes {
  list(signal: AbortSignal): Promise<readonly Route[]>;
  create(route: Route, signal: AbortSignal): Promise<void>;
  delete(route: Route, signal: AbortSignal): Promise<void>;
}

export interface Route {
  readonly nodeName: string;
  /** Addresses of Pods. */
  readonly destination: string;
}

export interface LoadBalancers {
  /** What a Service already has, told once at the start: a provider that keeps no books of its own learns it from here. */
  adopt?(service: core.Service): void;
  /** Makes it, or changes it to what the Service says. */
  ensure(service: core.Service, nodes: readonly core.Node[], signal: AbortSignal): Promise<core.LoadBalancerStatus>;
  /** Ends well where there is none. */
  remove(service: core.Service, signal: AbortSignal): Promise<void>;
}
