/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ObjectReference } from "./core-v1.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly hostname?: string;
  readonly targetRef?: ObjectReference;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: EndpointHints;
}

export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export interface EndpointHints {
  readonly forZones?: readonly ForZone[];
  readonly forNodes?: readonly ForNode[];
}

export interface EndpointPort {
  readonly name?: string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly port?: number;
  readonly appProtocol?: string;
}

export interface EndpointSlice {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly addressType: "FQDN" | "IPv4" | "IPv6";
  readonly endpoints?: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}

export interface EndpointSliceList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly EndpointSlice[];
}

export interface ForNode {
  readonly name: string;
}

export interface ForZone {
  readonly name: string;
}
