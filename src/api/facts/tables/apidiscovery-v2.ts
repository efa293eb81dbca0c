/** Written by scripts/api-facts.ts from k8s.io/api/apidiscovery/v2 0.36.4: not to be edited. */
export const apidiscoveryV2 = `
package io.k8s.api.apidiscovery.v2
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias DiscoveryFreshness string
alias ResourceScope string

APIGroupDiscovery
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 versions? []APIVersionDiscovery list=map:version

APIGroupDiscoveryList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []APIGroupDiscovery

APIResourceDiscovery
 1 resource! string
 2 responseKind? *meta.GroupVersionKind
 3 scope! ResourceScope
 4 singularResource! string
 5 verbs! []string list=set
 6 shortNames? []string list=set
 7 categories? []string list=set
 8 subresources? []APISubresourceDiscovery list=map:subresource

APISubresourceDiscovery
 1 subresource! string
 2 responseKind? *meta.GroupVersionKind
 3 acceptedTypes? []meta.GroupVersionKind list=map:group,version,kind
 4 verbs! []string list=set

APIVersionDiscovery
 1 version! string
 2 resources? []APIResourceDiscovery list=map:resource
 3 freshness? DiscoveryFreshness
`;
