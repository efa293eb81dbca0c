/** Written by scripts/api-facts.ts from k8s.io/api/flowcontrol/v1 0.36.4: not to be edited. */
export const flowcontrolV1 = `
package io.k8s.api.flowcontrol.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

alias ConditionStatus string
alias FlowDistinguisherMethodType string
alias FlowSchemaConditionType string
alias LimitResponseType string
alias PriorityLevelConfigurationConditionType string
alias PriorityLevelEnablement string
alias SubjectKind string

ExemptPriorityLevelConfiguration
 1 nominalConcurrencyShares? *int32
 2 lendablePercent? *int32

FlowDistinguisherMethod
 1 type! FlowDistinguisherMethodType

FlowSchema
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? FlowSchemaSpec
 3 status? FlowSchemaStatus

FlowSchemaCondition
 1 type? FlowSchemaConditionType
 2 status? ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

FlowSchemaList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []FlowSchema

FlowSchemaSpec
 1 priorityLevelConfiguration! PriorityLevelConfigurationReference
 2 matchingPrecedence int32
 3 distinguisherMethod? *FlowDistinguisherMethod
 4 rules? []PolicyRulesWithSubjects list=atomic

FlowSchemaStatus
 1 conditions? []FlowSchemaCondition list=map:type patch=merge:type

GroupSubject
 1 name! string

LimitResponse
 1 type! LimitResponseType
 2 queuing? *QueuingConfiguration

LimitedPriorityLevelConfiguration
 1 nominalConcurrencyShares *int32
 2 limitResponse? LimitResponse
 3 lendablePercent? *int32
 4 borrowingLimitPercent? *int32

NonResourcePolicyRule
 1 verbs! []string list=set
 6 nonResourceURLs! []string list=set

PolicyRulesWithSubjects
 1 subjects! []Subject list=atomic
 2 resourceRules? []ResourcePolicyRule list=atomic
 3 nonResourceRules? []NonResourcePolicyRule list=atomic

PriorityLevelConfiguration
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? PriorityLevelConfigurationSpec
 3 status? PriorityLevelConfigurationStatus

PriorityLevelConfigurationCondition
 1 type? PriorityLevelConfigurationConditionType
 2 status? ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string

PriorityLevelConfigurationList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []PriorityLevelConfiguration

PriorityLevelConfigurationReference
 1 name! string

PriorityLevelConfigurationSpec
 1 type! PriorityLevelEnablement
 2 limited? *LimitedPriorityLevelConfiguration
 3 exempt? *ExemptPriorityLevelConfiguration

PriorityLevelConfigurationStatus
 1 conditions? []PriorityLevelConfigurationCondition list=map:type patch=merge:type

QueuingConfiguration
 1 queues int32
 2 handSize int32
 3 queueLengthLimit int32

ResourcePolicyRule
 1 verbs! []string list=set
 2 apiGroups! []string go=APIGroups list=set
 3 resources! []string list=set
 4 clusterScope? boolean
 5 namespaces []string list=set

ServiceAccountSubject
 1 namespace! string
 2 name! string

Subject
 1 kind! SubjectKind
 2 user? *UserSubject
 3 group? *GroupSubject
 4 serviceAccount? *ServiceAccountSubject

UserSubject
 1 name! string
`;
