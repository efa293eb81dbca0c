/** Written by hand from the public documentation of apiregistration.k8s.io/v1: the archive has no package of it. */
export const apiregistrationV1 = `
package io.k8s.kube-aggregator.pkg.apis.apiregistration.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias APIServiceConditionType string
alias ConditionStatus string

APIService
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? APIServiceSpec
 3 status? APIServiceStatus

APIServiceCondition
 1 type! APIServiceConditionType
 2 status! ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

APIServiceList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []APIService

APIServiceSpec
 1 service? *ServiceReference
 2 group? string
 3 version? string
 4 insecureSkipTLSVerify? boolean
 5 caBundle? bytes go=CABundle list=atomic
 7 groupPriorityMinimum! int32
 8 versionPriority! int32

APIServiceStatus
 1 conditions? []APIServiceCondition list=map:type patch=merge:type

ServiceReference
 1 namespace? string
 2 name? string
 3 port? *int32
`;
