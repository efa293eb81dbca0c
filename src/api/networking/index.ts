/** The public surface of networking.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { Ingress } from "./ingress.ts";
import { IngressClass } from "./ingress-class.ts";
import { IPAddress } from "./ip-address.ts";
import { NetworkPolicy } from "./network-policy.ts";
import { ServiceCIDR } from "./service-cidr.ts";

export const networkingKinds: readonly Kind[] = [IngressClass, Ingress, IPAddress, NetworkPolicy, ServiceCIDR];
