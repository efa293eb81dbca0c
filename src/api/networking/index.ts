/** The public surface of networking.k8s.io. */
import { sameVersion } from "../definition/other-version.ts";
import type { Kind } from "../machinery/kind.ts";
import { Ingress } from "./ingress.ts";
import { IngressClass } from "./ingress-class.ts";
import { IPAddress } from "./ip-address.ts";
import { NetworkPolicy } from "./network-policy.ts";
import { ServiceCIDR } from "./service-cidr.ts";

const v1beta1 = "networking.k8s.io/v1beta1";

export const networkingKinds: readonly Kind[] = [
  IngressClass,
  Ingress,
  IPAddress,
  NetworkPolicy,
  ServiceCIDR,
  sameVersion(v1beta1, IPAddress),
  sameVersion(v1beta1, ServiceCIDR),
];
