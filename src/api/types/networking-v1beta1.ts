/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { TypedLocalObjectReference } from "./core-v1.ts";
import type { Condition, ListMeta } from "./meta-v1.ts";

export interface HTTPIngressPath {
  readonly path?: string;
  readonly pathType?: string;
  readonly backend: IngressBackend;
}

export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[];
}

export interface IPAddress {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: IPAddressSpec;
}

export interface IPAddressList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly IPAddress[];
}

export interface IPAddressSpec {
  readonly parentRef: ParentReference;
}

export interface Ingress {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: IngressSpec;
  readonly status?: IngressStatus;
}

export interface IngressBackend {
  readonly serviceName?: string;
  readonly servicePort?: number | string;
  readonly resource?: TypedLocalObjectReference;
}

export interface IngressClass {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: IngressClassSpec;
}

export interface IngressClassList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly IngressClass[];
}

export interface IngressClassParametersReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly scope: string;
  readonly namespace?: string;
}

export interface IngressClassSpec {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
}

export interface IngressList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Ingress[];
}

export interface IngressLoadBalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ports?: readonly IngressPortStatus[];
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
}

export interface IngressPortStatus {
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
  readonly error?: string;
}

export interface IngressRule {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
}

export interface IngressRuleValue {
  readonly http?: HTTPIngressRuleValue;
}

export interface IngressSpec {
  readonly ingressClassName?: string;
  readonly backend?: IngressBackend;
  readonly tls?: readonly IngressTLS[];
  readonly rules?: readonly IngressRule[];
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus;
}

export interface IngressTLS {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}

export interface ParentReference {
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface ServiceCIDR {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
}

export interface ServiceCIDRList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ServiceCIDR[];
}

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[];
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[];
}
