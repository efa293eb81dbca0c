/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { GroupVersionKind, ListMeta } from "./meta-v1.ts";

export interface APIGroupDiscovery {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly versions?: readonly APIVersionDiscovery[];
}

export interface APIGroupDiscoveryList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly APIGroupDiscovery[];
}

export interface APIResourceDiscovery {
  readonly resource: string;
  readonly responseKind?: GroupVersionKind;
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly APISubresourceDiscovery[];
}

export interface APISubresourceDiscovery {
  readonly subresource: string;
  readonly responseKind?: GroupVersionKind;
  readonly acceptedTypes?: readonly GroupVersionKind[];
  readonly verbs: readonly string[];
}

export interface APIVersionDiscovery {
  readonly version: string;
  readonly resources?: readonly APIResourceDiscovery[];
  readonly freshness?: string;
}
