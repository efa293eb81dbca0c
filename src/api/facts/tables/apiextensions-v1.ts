/** Written by scripts/api-facts.ts from k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 0.36.4: not to be edited. */
export const apiextensionsV1 = `
package io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1
use types io.k8s.apimachinery.pkg.types

enum FieldValueErrorReason FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired
alias ConditionStatus string
alias ConversionStrategyType string
alias CustomResourceDefinitionConditionType string
alias JSON raw
alias JSONSchemaDefinitions {}JSONSchemaProps
alias JSONSchemaDependencies {}JSONSchemaPropsOrStringArray
alias JSONSchemaURL string
alias ResourceScope string
alias ValidationRules []ValidationRule

ConversionRequest
 1 uid! types.UID go=UID
 2 desiredAPIVersion! string
 3 objects! []raw list=atomic

ConversionResponse
 1 uid! types.UID go=UID
 2 convertedObjects! []raw list=atomic
 3 result! meta.Status

ConversionReview
 0 ... meta.TypeMeta
 1 request? *ConversionRequest
 2 response? *ConversionResponse

CustomResourceColumnDefinition
 1 name! string
 2 type! string
 3 format? string
 4 description? string
 5 priority? int32
 6 jsonPath! string go=JSONPath

CustomResourceConversion
 1 strategy! ConversionStrategyType
 2 webhook? *WebhookConversion

CustomResourceDefinition
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 spec! CustomResourceDefinitionSpec
 3 status? CustomResourceDefinitionStatus

CustomResourceDefinitionCondition
 1 type! CustomResourceDefinitionConditionType
 2 status! ConditionStatus
 3 lastTransitionTime? time
 4 reason? string
 5 message? string
 6 observedGeneration? int64

CustomResourceDefinitionList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []CustomResourceDefinition

CustomResourceDefinitionNames
 1 plural! string
 2 singular? string
 3 shortNames? []string list=atomic
 4 kind! string
 5 listKind? string
 6 categories? []string list=atomic

CustomResourceDefinitionSpec
 1 group! string
 3 names! CustomResourceDefinitionNames
 4 scope! ResourceScope
 7 versions! []CustomResourceDefinitionVersion list=atomic
 9 conversion? *CustomResourceConversion
 10 preserveUnknownFields? boolean

CustomResourceDefinitionStatus
 1 conditions []CustomResourceDefinitionCondition list=map:type
 2 acceptedNames CustomResourceDefinitionNames
 3 storedVersions []string list=atomic
 4 observedGeneration? int64

CustomResourceDefinitionVersion
 1 name! string
 2 served! boolean
 3 storage! boolean
 7 deprecated? boolean
 8 deprecationWarning? *string
 4 schema? *CustomResourceValidation
 5 subresources? *CustomResourceSubresources
 6 additionalPrinterColumns? []CustomResourceColumnDefinition list=atomic
 9 selectableFields? []SelectableField list=atomic

CustomResourceSubresourceScale
 1 specReplicasPath! string
 2 statusReplicasPath! string
 3 labelSelectorPath? *string

CustomResourceSubresourceStatus

CustomResourceSubresources
 1 status? *CustomResourceSubresourceStatus
 2 scale? *CustomResourceSubresourceScale

CustomResourceValidation
 1 openAPIV3Schema? *JSONSchemaProps

ExternalDocumentation
 1 description? string
 2 url? string go=URL

JSONSchemaProps
 1 id? string go=ID
 2 $schema? JSONSchemaURL go=Schema
 3 $ref? *string go=Ref
 4 description? string
 5 type? string
 6 format? string
 7 title? string
 8 default? *JSON
 9 maximum? *double
 10 exclusiveMaximum? boolean
 11 minimum? *double
 12 exclusiveMinimum? boolean
 13 maxLength? *int64
 14 minLength? *int64
 15 pattern? string
 16 maxItems? *int64
 17 minItems? *int64
 18 uniqueItems? boolean
 19 multipleOf? *double
 20 enum? []JSON list=atomic
 21 maxProperties? *int64
 22 minProperties? *int64
 23 required? []string list=atomic
 24 items? *JSONSchemaPropsOrArray
 25 allOf? []JSONSchemaProps list=atomic
 26 oneOf? []JSONSchemaProps list=atomic
 27 anyOf? []JSONSchemaProps list=atomic
 28 not? *JSONSchemaProps
 29 properties? {}JSONSchemaProps
 30 additionalProperties? *JSONSchemaPropsOrBool
 31 patternProperties? {}JSONSchemaProps
 32 dependencies? JSONSchemaDependencies
 33 additionalItems? *JSONSchemaPropsOrBool
 34 definitions? JSONSchemaDefinitions
 35 externalDocs? *ExternalDocumentation
 36 example? *JSON
 37 nullable? boolean
 38 x-kubernetes-preserve-unknown-fields? *boolean go=XPreserveUnknownFields
 39 x-kubernetes-embedded-resource? boolean go=XEmbeddedResource
 40 x-kubernetes-int-or-string? boolean go=XIntOrString
 41 x-kubernetes-list-map-keys? []string go=XListMapKeys list=atomic
 42 x-kubernetes-list-type? *string go=XListType
 43 x-kubernetes-map-type? *string go=XMapType
 44 x-kubernetes-validations? ValidationRules go=XValidations list=map:rule patch=merge:rule

JSONSchemaPropsOrArray either
 1 JSONSchemaProps
 2 []JSONSchemaProps

JSONSchemaPropsOrBool either
 1 boolean
 2 JSONSchemaProps

JSONSchemaPropsOrStringArray either
 1 JSONSchemaProps
 2 []string

SelectableField
 1 jsonPath! string go=JSONPath

ServiceReference
 1 namespace! string
 2 name! string
 3 path? *string
 4 port? *int32

ValidationRule
 1 rule! string
 2 message? string
 3 messageExpression? string
 4 reason? *FieldValueErrorReason
 5 fieldPath? string
 6 optionalOldSelf? *boolean

WebhookClientConfig
 3 url? *string go=URL
 1 service? *ServiceReference
 2 caBundle? bytes go=CABundle

WebhookConversion
 2 clientConfig? *WebhookClientConfig
 3 conversionReviewVersions! []string list=atomic
`;
