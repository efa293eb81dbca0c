/** Written by scripts/api-facts.ts from k8s.io/api/authentication/v1 0.36.4: not to be edited. */
export const authenticationV1 = `
package io.k8s.api.authentication.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

BoundObjectReference
 1 kind? string
 2 apiVersion? string go=APIVersion
 3 name? string
 4 uid? types.UID go=UID

ExtraValue list string

SelfSubjectReview
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 status? SelfSubjectReviewStatus

SelfSubjectReviewStatus
 1 userInfo? UserInfo

TokenRequest
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec TokenRequestSpec
 3 status? TokenRequestStatus

TokenRequestSpec
 1 audiences []string list=atomic
 4 expirationSeconds *int64
 3 boundObjectRef *BoundObjectReference

TokenRequestStatus
 1 token string
 2 expirationTimestamp time

TokenReview
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! TokenReviewSpec
 3 status? TokenReviewStatus

TokenReviewSpec
 1 token?! string
 2 audiences? []string list=atomic

TokenReviewStatus
 1 authenticated? boolean
 2 user? UserInfo
 4 audiences? []string list=atomic
 3 error? string

UserInfo
 1 username? string
 2 uid? string go=UID
 3 groups? []string list=atomic
 4 extra? {}ExtraValue
`;
