/** Written by scripts/api-facts.ts from k8s.io/api/admissionregistration/v1alpha1 0.36.4: not to be edited. */
export const admissionregistrationV1alpha1 = `
package io.k8s.api.admissionregistration.v1alpha1
use admissionregistration io.k8s.api.admissionregistration.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

enum FailurePolicyType Fail|Ignore
enum MatchPolicyType Equivalent|Exact
enum ParameterNotFoundActionType Allow|Deny
enum PatchType ApplyConfiguration|JSONPatch
enum ValidationAction Audit|Deny|Warn

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

MatchCondition same admissionregistration.MatchCondition

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

Validation
 1 expression! string
 2 message? string
 3 reason? *meta.StatusReason
 4 messageExpression? string

Variable
 1 name! string
 2 expression! string
`;
