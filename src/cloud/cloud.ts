/**
 * The interface of a cloud provider. A provider implements the parts that it has; controllers run for those parts only.
 *
 * 1. Every call may be repeated: it leaves existing things as they are.
 * 2. A failure is thrown; the controller records an Event and tries again later. No answer at all is a failure, too:
 *    a provider bounds its calls in time, and ends them when the signal aborts.
 * 3. Only a provider that is sure answers that something does not exist: Nodes are deleted because of it.
 */
import type { core } from "#api";

export interface Cloud {
  /** The scheme of provider ids: `local` in `local://node-1`. */
  readonly name: string;
  readonly instances?: Instances;
  readonly routes?: Routes;
  readonly loadBalancers?: LoadBalancers;
  /** Ends its connections. */
  close?(): void;
}

/** The machines behind Nodes. One call answers whether a machine exists, whether it is shut down, and what it is. */
export interface Instances {
  /** Undefined: there is no such machine. */
  find(node: core.Node, signal: AbortSignal): Promise<Instance | undefined>;
}

export interface Instance {
  /** For example `local://node-1`. */
  readonly providerId: string;
  readonly type?: string | undefined;
  readonly zone?: string | undefined;
  readonly region?: string | undefined;
  /** Further labels of the Node; those that it has stay. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
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
  /** Of the Node. A provider that lists them gets the route again when they change. */
  readonly addresses?: readonly core.NodeAddress[] | undefined;
  /** It leads nowhere: its machine is gone. */
  readonly blackhole?: boolean | undefined;
}

export interface LoadBalancers {
  /**
   * Called once at the start with the addresses that a Service already has, for providers without state of their own.
   */
  adopt?(service: core.Service): void;
  /** What `ensure` returns depends on the Nodes: it is called again when they change. */
  readonly followsNodes?: boolean;
  /** Creates the load balancer, or updates it to match the Service. */
  ensure(service: core.Service, nodes: readonly core.Node[], signal: AbortSignal): Promise<core.LoadBalancerStatus>;
  /** Only its Nodes have changed. Absent: the provider does not need to know its Nodes. */
  update?(service: core.Service, nodes: readonly core.Node[], signal: AbortSignal): Promise<void>;
  /** Succeeds if there is none. */
  remove(service: core.Service, signal: AbortSignal): Promise<void>;
}

/** A failure that may say when it is worth trying again. */
export class CloudError extends Error {
  override readonly name = "CloudError";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { retryAfterMs?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}
