/** Where a connection goes: the result of looking it up by TLSRoutes or TCPRoutes. */
import type { Backend } from "../http/route.ts";

export interface StreamTarget {
  /** `namespace/name` of the route. */
  readonly owner: string;
  /** TLS ends here, and the endpoint gets what it carried. */
  readonly endsTls: boolean;
  /** Undefined: the connection is refused. */
  readonly backend: Backend | undefined;
}

/** `serverName`: what a client that speaks TLS asks for, or empty; undefined for one that does not. */
export type FindTarget = (port: number, serverName: string | undefined) => StreamTarget | undefined;
