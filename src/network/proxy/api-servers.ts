/**
 * Which endpoints of the Service `kubernetes` answer, as the node's balancer knows: the Leases of API servers say so
 * only after a while. Pods connect to those that do.
 */
import type { discovery } from "#api";

type EndpointSlice = discovery.EndpointSlice;

export class ApiServers {
  #usable: (address: string) => boolean = () => true;
  #onChange: () => void = () => {};

  readonly change = (usable: (address: string) => boolean): void => {
    this.#usable = usable;
    this.#onChange();
  };

  onChange(handler: () => void): void {
    this.#onChange = handler;
  }

  /** Without the endpoints that do not answer; with all of them if none does. */
  living(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
    const next = slices.map((slice) => {
      const port = slice.ports?.[0]?.port ?? 0;
      const isUsable = (host: string) => this.#usable(`${host.includes(":") ? `[${host}]` : host}:${port}`);
      return { ...slice, endpoints: (slice.endpoints ?? []).filter(({ addresses }) => addresses.some(isUsable)) };
    });
    return next.some(({ endpoints }) => endpoints.length > 0) ? next : slices;
  }
}
