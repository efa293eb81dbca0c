/** The whole public surface of apiextensions.k8s.io: the kind that defines kinds, and what is made of its objects. */
import type { Kind } from "../machinery/kind.ts";
import { CustomResourceDefinition } from "./custom-resource-definition.ts";

export const apiextensionsKinds: readonly Kind[] = [CustomResourceDefinition];

export { type AcceptedNames, acceptNames } from "./accepted-names.ts";
export { apiApproval } from "./api-approval.ts";
export { type ConditionFacts, isConditionTrue } from "./condition.ts";
export { convertNone } from "./conversion.ts";
export { type CustomKind, compileCustomKind } from "./custom-kind.ts";
export { type CustomKindNames, customKindNames } from "./custom-kind-names.ts";
export { nonStructuralSchema, nonStructuralViolations } from "./non-structural.ts";
export { NotStructuralError } from "./schema/structural.ts";
export { compareVersions } from "./version-order.ts";
export { CustomResourceDefinition };
