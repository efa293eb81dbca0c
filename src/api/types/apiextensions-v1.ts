/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64, Json } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta, Status } from "./meta-v1.ts";

export interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Json[];
}

export interface ConversionResponse {
  readonly uid: string;
  readonly convertedObjects: readonly Json[];
  readonly result: Status;
}

export interface ConversionReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly request?: ConversionRequest;
  readonly response?: ConversionResponse;
}

export interface CustomResourceColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface CustomResourceConversion {
  readonly strategy: string;
  readonly webhook?: WebhookConversion;
}

export interface CustomResourceDefinition {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
}

export interface CustomResourceDefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: Int64;
}

export interface CustomResourceDefinitionList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly CustomResourceDefinition[];
}

export interface CustomResourceDefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface CustomResourceDefinitionSpec {
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly scope: string;
  readonly versions: readonly CustomResourceDefinitionVersion[];
  readonly conversion?: CustomResourceConversion;
  readonly preserveUnknownFields?: boolean;
}

export interface CustomResourceDefinitionStatus {
  readonly conditions?: readonly CustomResourceDefinitionCondition[];
  readonly acceptedNames?: CustomResourceDefinitionNames;
  readonly storedVersions?: readonly string[];
  readonly observedGeneration?: Int64;
}

export interface CustomResourceDefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: CustomResourceValidation;
  readonly subresources?: CustomResourceSubresources;
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[];
  readonly selectableFields?: readonly SelectableField[];
}

export interface CustomResourceSubresourceScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export type CustomResourceSubresourceStatus = Readonly<Record<string, never>>;

export interface CustomResourceSubresources {
  readonly status?: CustomResourceSubresourceStatus;
  readonly scale?: CustomResourceSubresourceScale;
}

export interface CustomResourceValidation {
  readonly openAPIV3Schema?: JSONSchemaProps;
}

export interface ExternalDocumentation {
  readonly description?: string;
  readonly url?: string;
}

export interface JSONSchemaProps {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: Json;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: Int64;
  readonly minLength?: Int64;
  readonly pattern?: string;
  readonly maxItems?: Int64;
  readonly minItems?: Int64;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly Json[];
  readonly maxProperties?: Int64;
  readonly minProperties?: Int64;
  readonly required?: readonly string[];
  readonly items?: Json;
  readonly allOf?: readonly JSONSchemaProps[];
  readonly oneOf?: readonly JSONSchemaProps[];
  readonly anyOf?: readonly JSONSchemaProps[];
  readonly not?: JSONSchemaProps;
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly additionalProperties?: Json;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly dependencies?: Readonly<Record<string, Json>>;
  readonly additionalItems?: Json;
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>;
  readonly externalDocs?: ExternalDocumentation;
  readonly example?: Json;
  readonly nullable?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

export interface SelectableField {
  readonly jsonPath: string;
}

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueDuplicate" | "FieldValueForbidden" | "FieldValueInvalid" | "FieldValueRequired";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: ServiceReference;
  readonly caBundle?: string;
}

export interface WebhookConversion {
  readonly clientConfig?: WebhookClientConfig;
  readonly conversionReviewVersions: readonly string[];
}
