/** The public surface of authorization.k8s.io: reviews that are answered and never stored. */
import { defineKind } from "../definition/define-kind.ts";
import type { Kind } from "../machinery/kind.ts";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "../types/authorization-v1.ts";
import { validateLocalReview, validateRulesReview, validateSelfReview, validateSubjectReview } from "./validation.ts";

const group = "authorization.k8s.io/v1";

export const authorizationKinds: readonly Kind[] = [
  defineKind<LocalSubjectAccessReview>(group, "LocalSubjectAccessReview", { validate: validateLocalReview }),
  defineKind<SelfSubjectAccessReview>(group, "SelfSubjectAccessReview", { validate: validateSelfReview }),
  defineKind<SelfSubjectRulesReview>(group, "SelfSubjectRulesReview", { validate: validateRulesReview }),
  defineKind<SubjectAccessReview>(group, "SubjectAccessReview", { validate: validateSubjectReview }),
];
