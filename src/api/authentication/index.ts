/** The public surface of authentication.k8s.io: kinds that are answered and never stored. */
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import type { Kind } from "../machinery/kind.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { SelfSubjectReview, TokenRequest, TokenReview } from "../types/authentication-v1.ts";

const group = "authentication.k8s.io/v1";

export const authenticationKinds: readonly Kind[] = [
  defineKind<SelfSubjectReview>(group, "SelfSubjectReview", {}),
  defineKind<TokenReview>(group, "TokenReview", {}),
];

/** Of the `token` subresource of service accounts. */
export function defaultTokenRequest(draft: Draft<TokenRequest>): void {
  draft.spec ??= {};
  draft.spec.expirationSeconds ??= 3600;
}

export function validateTokenRequest({ spec = {} }: TokenRequest, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec", "expirationSeconds");
  const { expirationSeconds: seconds = 3600 } = spec;
  if (seconds < 600) return [invalid(where, seconds, "may not specify a duration less than 10 minutes")];
  return seconds > 2 ** 32 ? [invalid(where, seconds, "may not specify a duration larger than 2^32 seconds")] : [];
}
