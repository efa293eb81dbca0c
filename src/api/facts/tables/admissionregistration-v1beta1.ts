/** Written by scripts/api-facts.ts from k8s.io/api/admissionregistration/v1beta1 0.36.4: not to be edited. */
export const admissionregistrationV1beta1 = `
package io.k8s.api.admissionregistration.v1beta1
use admissionregistration io.k8s.api.admissionregistration.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum PatchType ApplyConfiguration|JSONPatch
enum ValidationAction Audit|Deny|Warn
alias FailurePolicyType string
alias MatchPolicyType string
alias ParameterNotFoundActionType string
alias SideEffectClass string

ApplyConfiguration
 1 expression? string

AuditAnnotation
 1 key! string
 2 valueExpression! string

ExpressionWarning
 2 fieldRef! string
 3 warning! string

JSONPatch
 1 expression? string

MatchCondition
 1 name! string
 2 expression! string

MatchResources atomic
 1 namespaceSelector? *meta.LabelSelector
 2 objectSelector? *meta.LabelSelector
 3 resourceRules? []NamedRuleWithOperations list=atomic
 4 excludeResourceRules? []NamedRuleWithOperations list=atomic
 7 matchPolicy? *MatchPolicyType

MutatingAdmissionPolicy
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? MutatingAdmissionPolicySpec

MutatingAdmissionPolicyBinding
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? MutatingAdmissionPolicyBindingSpec

MutatingAdmissionPolicyBindingList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []MutatingAdmissionPolicyBinding

MutatingAdmissionPolicyBindingSpec
 1 policyName? string
 2 paramRef? *ParamRef
 3 matchResources? *MatchResources

MutatingAdmissionPolicyList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []MutatingAdmissionPolicy

MutatingAdmissionPolicySpec
 1 paramKind? *ParamKind
 2 matchConstraints? *MatchResources
 3 variables? []Variable list=atomic
 4 mutations? []Mutation list=atomic
 5 failurePolicy? *FailurePolicyType
 6 matchConditions? []MatchCondition list=map:name patch=merge:name
 7 reinvocationPolicy? admissionregistration.ReinvocationPolicyType

MutatingWebhook
 1 name! string
 2 clientConfig! WebhookClientConfig
 3 rules? []admissionregistration.RuleWithOperations list=atomic
 4 failurePolicy? *FailurePolicyType
 9 matchPolicy? *MatchPolicyType
 5 namespaceSelector? *meta.LabelSelector
 11 objectSelector? *meta.LabelSelector
 6 sideEffects? *SideEffectClass
 7 timeoutSeconds? *int32
 8 admissionReviewVersions? []string list=atomic
 10 reinvocationPolicy? *admissionregistration.ReinvocationPolicyType
 12 matchConditions? []MatchCondition list=map:name patch=merge:name

MutatingWebhookConfiguration
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 webhooks? []MutatingWebhook list=map:name patch=merge:name

MutatingWebhookConfigurationList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []MutatingWebhookConfiguration

Mutation
 2 patchType! PatchType
 3 applyConfiguration? *ApplyConfiguration
 4 jsonPatch? *JSONPatch go=JSONPatch

NamedRuleWithOperations atomic
 1 resourceNames? []string list=atomic
 2 ... admissionregistration.RuleWithOperations

ParamKind atomic
 1 apiVersion? string go=APIVersion
 2 kind? string

ParamRef atomic
 1 name? string
 2 namespace? string
 3 selector? *meta.LabelSelector
 4 parameterNotFoundAction? *ParameterNotFoundActionType

ServiceReference
 1 namespace! string
 2 name! string
 3 path? *string
 4 port? *int32

TypeChecking
 1 expressionWarnings? []ExpressionWarning list=atomic

ValidatingAdmissionPolicy
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec? ValidatingAdmissionPolicySpec
 3 status? ValidatingAdmissionPolicyStatus

ValidatingAdmissionPolicyBinding
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec?! ValidatingAdmissionPolicyBindingSpec

ValidatingAdmissionPolicyBindingList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ValidatingAdmissionPolicyBinding

ValidatingAdmissionPolicyBindingSpec
 1 policyName?! string
 2 paramRef? *ParamRef
 3 matchResources? *MatchResources
 4 validationActions?! []ValidationAction list=set

ValidatingAdmissionPolicyList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ValidatingAdmissionPolicy

ValidatingAdmissionPolicySpec
 1 paramKind? *ParamKind
 2 matchConstraints? *MatchResources
 3 validations? []Validation list=atomic
 4 failurePolicy? *FailurePolicyType
 5 auditAnnotations? []AuditAnnotation list=atomic
 6 matchConditions? []MatchCondition list=map:name patch=merge:name
 7 variables? []Variable list=map:name patch=merge:name

ValidatingAdmissionPolicyStatus
 1 observedGeneration? int64
 2 typeChecking? *TypeChecking
 3 conditions? []meta.Condition list=map:type

ValidatingWebhook
 1 name! string
 2 clientConfig! WebhookClientConfig
 3 rules? []admissionregistration.RuleWithOperations list=atomic
 4 failurePolicy? *FailurePolicyType
 9 matchPolicy? *MatchPolicyType
 5 namespaceSelector? *meta.LabelSelector
 10 objectSelector? *meta.LabelSelector
 6 sideEffects? *SideEffectClass list=atomic
 7 timeoutSeconds? *int32
 8 admissionReviewVersions? []string list=atomic
 11 matchConditions? []MatchCondition list=map:name patch=merge:name

ValidatingWebhookConfiguration
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 webhooks? []ValidatingWebhook list=map:name patch=merge:name

ValidatingWebhookConfigurationList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []ValidatingWebhookConfiguration

Validation
 1 expression! string
 2 message? string
 3 reason? *meta.StatusReason
 4 messageExpression? string

Variable atomic
 1 name! string
 2 expression! string

WebhookClientConfig
 3 url? *string go=URL
 1 service? *ServiceReference
 2 caBundle? bytes go=CABundle
`;
