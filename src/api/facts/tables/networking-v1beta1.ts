/** Written by scripts/api-facts.ts from k8s.io/api/networking/v1beta1 0.36.4: not to be edited. */
export const networkingV1beta1 = `
package io.k8s.api.networking.v1beta1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias PathType string

HTTPIngressPath
 1 path? string
 3 pathType? *PathType
 2 backend! IngressBackend

HTTPIngressRuleValue
 1 paths! []HTTPIngressPath list=atomic

IPAddress
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec?! IPAddressSpec

IPAddressList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []IPAddress

IPAddressSpec
 1 parentRef?! *ParentReference

Ingress
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? IngressSpec
 3 status? IngressStatus

IngressBackend
 1 serviceName? string
 2 servicePort? intOrString
 3 resource? *core.TypedLocalObjectReference

IngressClass
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? IngressClassSpec

IngressClassList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []IngressClass

IngressClassParametersReference
 1 apiGroup? *string go=APIGroup
 2 kind! string
 3 name! string
 4 scope! *string
 5 namespace? *string

IngressClassSpec
 1 controller? string
 2 parameters? *IngressClassParametersReference

IngressList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Ingress

IngressLoadBalancerIngress
 1 ip? string go=IP
 2 hostname? string
 4 ports? []IngressPortStatus list=atomic

IngressLoadBalancerStatus
 1 ingress? []IngressLoadBalancerIngress list=atomic

IngressPortStatus
 1 port! int32
 2 protocol! core.Protocol
 3 error? *string

IngressRule
 1 host? string
 2 ... IngressRuleValue

IngressRuleValue
 1 http? *HTTPIngressRuleValue go=HTTP

IngressSpec
 4 ingressClassName? *string
 1 backend? *IngressBackend
 2 tls? []IngressTLS go=TLS list=atomic
 3 rules? []IngressRule list=atomic

IngressStatus
 1 loadBalancer? IngressLoadBalancerStatus

IngressTLS
 1 hosts? []string list=atomic
 2 secretName? string

ParentReference
 1 group? string
 2 resource?! string
 3 namespace? string
 4 name?! string

ServiceCIDR
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ServiceCIDRSpec
 3 status? ServiceCIDRStatus

ServiceCIDRList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ServiceCIDR

ServiceCIDRSpec
 1 cidrs? []string go=CIDRs list=atomic

ServiceCIDRStatus
 1 conditions? []meta.Condition list=map:type patch=merge:type
`;
