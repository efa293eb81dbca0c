/** The error of a request that a policy denies. */

import { StatusError, type StatusReason } from "#api";
import { table } from "#base";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { refused } from "../chain/plugin.ts";
import type { AnyBinding, AnyPolicy } from "./policy-set.ts";

export interface Denial {
  readonly policy: AnyPolicy;
  /** Absent where the policy itself cannot be used. */
  readonly binding: AnyBinding | undefined;
  readonly message: string;
  readonly reason: string;
}

const CODES: Readonly<Record<string, number>> = table({
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
});
const UNPROCESSABLE = 422;

/** The error names the first of several denials. */
export function validationDenial(
  attributes: AdmissionAttributes,
  { policy, binding, message, reason }: Denial,
): StatusError {
  const bound = binding === undefined ? "" : ` with binding '${binding.metadata.name}'`;
  const why = `ValidatingAdmissionPolicy '${policy.metadata.name}'${bound} denied request: ${message}`;
  const { message: text, details } = refused(attributes, why);
  const given = reason === "" ? "Invalid" : reason;
  return new StatusError(given as StatusReason, text, {
    code: CODES[given] ?? UNPROCESSABLE,
    details: { ...details, causes: [...(details?.causes ?? []), { message: why }] },
  });
}

/** The error names the first denial; its causes list all. */
export function mutationDenial(attributes: AdmissionAttributes, denials: readonly Denial[]): StatusError {
  const messages = denials.map(({ policy, binding, message }) =>
    binding === undefined
      ? `policy ${JSON.stringify(policy.metadata.name)} denied request: ${message}`
      : `policy '${policy.metadata.name}' with binding '${binding.metadata.name}' denied request: ${message}`,
  );
  const { reason, code, details } = refused(attributes, "");
  return new StatusError((denials[0]?.reason || reason) as StatusReason, messages[0] ?? "", {
    code,
    details: { ...details, causes: [...(details?.causes ?? []), ...messages.map((message) => ({ message }))] },
  });
}
