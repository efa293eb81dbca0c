/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { Condition, LabelSelector, ListMeta } from "./meta-v1.ts";

export interface ApplyConfiguration {
  readonly expression?: string;
}

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

export interface JSONPatch {
  readonly expression?: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: "Equivalent" | "Exact";
}

export interface MutatingAdmissionPolicy {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: MutatingAdmissionPolicySpec;
}

export interface MutatingAdmissionPolicyBinding {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: MutatingAdmissionPolicyBindingSpec;
}

export interface MutatingAdmissionPolicyBindingList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly MutatingAdmissionPolicyBinding[];
}

export interface MutatingAdmissionPolicyBindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}

export interface MutatingAdmissionPolicyList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly MutatingAdmissionPolicy[];
}

export interface MutatingAdmissionPolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly variables?: readonly Variable[];
  readonly mutations?: readonly Mutation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
}

export interface Mutation {
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
  readonly applyConfiguration?: ApplyConfiguration;
  readonly jsonPatch?: JSONPatch;
}

export interface NamedRuleWithOperations {
  readonly resourceNames?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: "Allow" | "Deny";
}

export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[];
}

export interface ValidatingAdmissionPolicy {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

export interface ValidatingAdmissionPolicyBinding {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
}

export interface ValidatingAdmissionPolicyBindingList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ValidatingAdmissionPolicyBinding[];
}

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly policyName: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions: readonly ("Audit" | "Deny" | "Warn")[];
}

export interface ValidatingAdmissionPolicyList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ValidatingAdmissionPolicy[];
}

export interface ValidatingAdmissionPolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly validations?: readonly Validation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}

export interface ValidatingAdmissionPolicyStatus {
  readonly observedGeneration?: Int64;
  readonly typeChecking?: TypeChecking;
  readonly conditions?: readonly Condition[];
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly reason?: string;
  readonly messageExpression?: string;
}

export interface Variable {
  readonly name: string;
  readonly expression: string;
}
