/** Written by scripts/api-facts.ts from k8s.io/api/authorization/v1 0.36.4: not to be edited. */
export const authorizationV1 = `
package io.k8s.api.authorization.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

ExtraValue list string

FieldSelectorAttributes
 1 rawSelector? string
 2 requirements? []meta.FieldSelectorRequirement list=atomic

LabelSelectorAttributes
 1 rawSelector? string
 2 requirements? []meta.LabelSelectorRequirement list=atomic

LocalSubjectAccessReview
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! SubjectAccessReviewSpec
 3 status? SubjectAccessReviewStatus

NonResourceAttributes
 1 path? string
 2 verb? string

NonResourceRule
 1 verbs! []string list=atomic
 2 nonResourceURLs? []string list=atomic

ResourceAttributes
 1 namespace? string
 2 verb? string
 3 group? string
 4 version? string
 5 resource? string
 6 subresource? string
 7 name? string
 8 fieldSelector? *FieldSelectorAttributes
 9 labelSelector? *LabelSelectorAttributes

ResourceRule
 1 verbs! []string list=atomic
 2 apiGroups? []string go=APIGroups list=atomic
 3 resources? []string list=atomic
 4 resourceNames? []string list=atomic

SelfSubjectAccessReview
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! SelfSubjectAccessReviewSpec
 3 status? SubjectAccessReviewStatus

SelfSubjectAccessReviewSpec
 1 resourceAttributes? *ResourceAttributes
 2 nonResourceAttributes? *NonResourceAttributes

SelfSubjectRulesReview
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! SelfSubjectRulesReviewSpec
 3 status? SubjectRulesReviewStatus

SelfSubjectRulesReviewSpec
 1 namespace? string

SubjectAccessReview
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! SubjectAccessReviewSpec
 3 status? SubjectAccessReviewStatus

SubjectAccessReviewSpec
 1 resourceAttributes? *ResourceAttributes
 2 nonResourceAttributes? *NonResourceAttributes
 3 user? string
 4 groups? []string list=atomic
 5 extra? {}ExtraValue
 6 uid? string go=UID

SubjectAccessReviewStatus
 1 allowed! boolean
 4 denied? boolean
 2 reason? string
 3 evaluationError? string

SubjectRulesReviewStatus
 1 resourceRules! []ResourceRule list=atomic
 2 nonResourceRules! []NonResourceRule list=atomic
 3 incomplete! boolean
 4 evaluationError? string
`;
