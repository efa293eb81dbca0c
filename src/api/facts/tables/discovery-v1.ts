/** Written by scripts/api-facts.ts from k8s.io/api/discovery/v1 0.36.4: not to be edited. */
export const discoveryV1 = `
package io.k8s.api.discovery.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum AddressType FQDN|IPv4|IPv6

Endpoint
 1 addresses! []string list=set
 2 conditions? EndpointConditions
 3 hostname? *string
 4 targetRef? *core.ObjectReference
 5 deprecatedTopology? {}string
 6 nodeName? *string
 7 zone? *string
 8 hints? *EndpointHints

EndpointConditions
 1 ready? *boolean
 2 serving? *boolean
 3 terminating? *boolean

EndpointHints
 1 forZones? []ForZone list=atomic
 2 forNodes? []ForNode list=atomic

EndpointPort atomic
 1 name? *string
 2 protocol? *core.Protocol
 3 port? *int32
 4 appProtocol? *string

EndpointSlice
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 4 addressType! AddressType
 2 endpoints []Endpoint list=atomic
 3 ports []EndpointPort list=atomic

EndpointSliceList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []EndpointSlice

ForNode
 1 name! string

ForZone
 1 name! string
`;
