/** The resource claims of a pod and of its containers. */

import { fits } from "../../../definition/field-checks.ts";
import { internalForm } from "../../../facts/index.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from "../../../machinery/errors/field-error.ts";
import { checkDns1123Label, checkDns1123Subdomain } from "../../../machinery/names/names.ts";
import type { ObjectMeta } from "../../../machinery/schema/object.ts";
import type { PodResourceClaim } from "../../../types/core-v1.ts";
import { mirrorPod } from "../fields/annotations.ts";

export function validateResourceClaims(
  claims: readonly PodResourceClaim[],
  meta: ObjectMeta | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const isMirror = meta?.annotations?.[mirrorPod] !== undefined;
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [i, claim] of claims.entries()) {
    const path = at.index(i);
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    if (isMirror) {
      errors.push(forbidden("", "static pods do not support resource claims"));
      continue;
    }
    if (!name) errors.push(required(path.child("name")));
    else if (names.has(name)) errors.push(duplicate(path.child("name"), name));
    else errors.push(...fits(checkDns1123Label, name, path.child("name")));
    names.add(name);
    const whole = internalForm("core.v1.PodResourceClaim", claim);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      errors.push(
        invalid(path, whole, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"),
      );
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      errors.push(invalid(path, whole, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
    if (resourceClaimName !== undefined) {
      errors.push(...fits(checkDns1123Subdomain, resourceClaimName, path.child("resourceClaimName")));
    }
    if (resourceClaimTemplateName !== undefined) {
      errors.push(...fits(checkDns1123Subdomain, resourceClaimTemplateName, path.child("resourceClaimTemplateName")));
    }
  }
  return errors;
}
