/** The public surface of apiextensions.k8s.io: CustomResourceDefinition, and what is compiled from its objects. */
import type { Kind } from "../machinery/kind.ts";
import { CustomResourceDefinition } from "./custom-resource-definition.ts";

export const apiextensionsKinds: readonly Kind[] = [CustomResourceDefinition];

export { type CustomKind, compileCustomKind, convertNone } from "./custom-kind.ts";
export { type CustomKindNames, compareVersions, customKindNames } from "./custom-kind-names.ts";
export {
  type AcceptedNames,
  acceptNames,
  apiApproval,
  type ConditionFacts,
  isConditionTrue,
  nonStructuralSchema,
  nonStructuralViolations,
} from "./definition/conditions.ts";
export { NotStructuralError } from "./schema/structural.ts";
export { CustomResourceDefinition };
