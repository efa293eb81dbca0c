/** Validation of certificate requests. The content must be PEM; signers check whether it is a sound PKCS#10 request. */

import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { Json } from "../machinery/json/json.ts";
import { decodeBase64 } from "../machinery/scalars/base64.ts";
import type { CertificateSigningRequest } from "../types/certificates-v1.ts";
import { ofType } from "./conditions.ts";
import { signerNameFaults } from "./signer-name.ts";
import { validUsages } from "./usages.ts";

const decisive = ["Approved", "Denied", "Failed"];

export function validateRequest({ spec, status }: CertificateSigningRequest, path: FieldPath): readonly FieldError[] {
  const at = path.child("spec");
  const errors: FieldError[] = [];
  // Null, where the client sent none.
  const request: string | null = spec.request;
  if (pemBlocks(request ?? "")[0] !== "CERTIFICATE REQUEST") {
    errors.push(invalid(at.child("request"), request, "PEM block type must be CERTIFICATE REQUEST"));
  }
  errors.push(...validateUsages(spec.usages ?? [], at.child("usages")));
  errors.push(...signerNameFaults(spec.signerName, at.child("signerName")));
  if (spec.expirationSeconds !== undefined && spec.expirationSeconds < 600) {
    const why = "may not specify a duration less than 600 seconds (10 minutes)";
    errors.push(invalid(at.child("expirationSeconds"), spec.expirationSeconds, why));
  }
  errors.push(...validateConditions(status, path.child("status", "conditions")));
  if (status?.certificate) {
    const why = certificateFault(pemBlocks(status.certificate));
    if (why !== undefined) errors.push(invalid(path.child("status", "certificate"), "<certificate data>", why));
  }
  return errors;
}

export function validateRequestUpdate(
  next: CertificateSigningRequest,
  old: CertificateSigningRequest,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("status", "conditions");
  return decisive
    .filter((type) => ofType(next.status?.conditions, type).length < ofType(old.status?.conditions, type).length)
    .map((type) => forbidden(where, `updates may not remove a condition of type ${goQuote(type)}`));
}

export function validateRequestStatus(
  next: CertificateSigningRequest,
  old: CertificateSigningRequest,
  path: FieldPath,
): readonly FieldError[] {
  const errors = [...validateRequestUpdate(next, old, path)];
  const where = path.child("status", "conditions");
  for (const type of ["Approved", "Denied"]) {
    const [before, after] = [ofType(old.status?.conditions, type), ofType(next.status?.conditions, type)];
    if (after.length > before.length)
      errors.push(forbidden(where, `updates may not add a condition of type ${goQuote(type)}`));
    else if (after.length === before.length && !equalJson(after as unknown as Json, before as unknown as Json)) {
      errors.push(forbidden(where, `updates may not modify a condition of type ${goQuote(type)}`));
    }
  }
  if (old.status?.certificate && next.status?.certificate !== old.status.certificate) {
    errors.push(
      forbidden(path.child("status", "certificate"), "updates may not set certificate content once it has been set"),
    );
  }
  return errors;
}

function validateUsages(usages: readonly string[], path: FieldPath): readonly FieldError[] {
  if (usages.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, usage] of usages.entries()) {
    if (!validUsages.includes(usage)) errors.push(notSupported(path.index(i), usage, validUsages));
    if (seen.has(usage)) errors.push(duplicate(path.index(i), usage));
    seen.add(usage);
  }
  return errors;
}

function validateConditions(status: CertificateSigningRequest["status"], path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, condition] of (status?.conditions ?? []).entries()) {
    const where = path.index(i);
    if (condition.type === "") errors.push(required(where.child("type")));
    const allowed = decisive.includes(condition.type) ? ["True"] : ["False", "True", "Unknown"];
    if (condition.status === "") errors.push(required(where.child("status")));
    else if (!allowed.includes(condition.status))
      errors.push(notSupported(where.child("status"), condition.status, allowed));
    const opposite = condition.type === "Approved" ? "Denied" : condition.type === "Denied" ? "Approved" : undefined;
    if (opposite !== undefined && seen.has(opposite)) {
      errors.push(
        invalid(where.child("type"), condition.type, "Approved and Denied conditions are mutually exclusive"),
      );
    }
    if (seen.has(condition.type)) errors.push(duplicate(where.child("type"), condition.type));
    seen.add(condition.type);
  }
  return errors;
}

function certificateFault(blocks: readonly string[]): string | undefined {
  const foreign = blocks.find((block) => block !== "CERTIFICATE");
  if (foreign !== undefined) return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(foreign)}`;
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

/** The types of the PEM blocks. Without a request, its bytes are null. */
function pemBlocks(base64: string | null): readonly string[] {
  const text = new TextDecoder().decode(decodeBase64(base64 ?? ""));
  return [...text.matchAll(/^-----BEGIN ([^\n-]+)-----\r?\n[\s\S]*?^-----END \1-----\s*$/gm)].map(
    ([, type = ""]) => type,
  );
}
