/** Written by scripts/api-facts.ts from k8s.io/api/rbac/v1 0.36.4: not to be edited. */
export const rbacV1 = `
package io.k8s.api.rbac.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

AggregationRule
 1 clusterRoleSelectors? []meta.LabelSelector list=atomic

ClusterRole
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 rules []PolicyRule list=atomic
 3 aggregationRule? *AggregationRule

ClusterRoleBinding
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 subjects? []Subject list=atomic
 3 roleRef! RoleRef

ClusterRoleBindingList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ClusterRoleBinding

ClusterRoleList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ClusterRole

PolicyRule
 1 verbs! []string list=atomic
 2 apiGroups? []string go=APIGroups list=atomic
 3 resources? []string list=atomic
 4 resourceNames? []string list=atomic
 5 nonResourceURLs? []string list=atomic

Role
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 rules []PolicyRule list=atomic

RoleBinding
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 subjects? []Subject list=atomic
 3 roleRef! RoleRef

RoleBindingList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []RoleBinding

RoleList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []Role

RoleRef atomic
 1 apiGroup string go=APIGroup
 2 kind! string
 3 name! string

Subject atomic
 1 kind! string
 2 apiGroup? string go=APIGroup
 3 name! string
 4 namespace? string
`;
