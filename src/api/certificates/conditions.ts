/** Conditions of a request: their times, and that a status write keeps the approval. */
import type { RequestFacts } from "../machinery/kind.ts";
import { formatTime, instantOf } from "../machinery/scalars/time.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from "../types/certificates-v1.ts";

type Request = CertificateSigningRequest;
type Condition = CertificateSigningRequestCondition;

/** Keeps the approval. If the write adds or removes one, all conditions stay as they were. */
export function carryApproval(draft: Draft<Request>, old: Request): void {
  draft.status ??= {};
  const before = old.status?.conditions ?? [];
  const after = draft.status.conditions ?? [];
  const found = ["Approved", "Denied"].map((type) => [ofType(before, type), ofType(after, type)] as const);
  if (found.some(([was, is]) => was.length !== is.length)) {
    draft.status.conditions = structuredClone(before) as Draft<Condition>[];
    return;
  }
  for (const [was, is] of found) for (const [i, condition] of is.entries()) Object.assign(condition, was[i]);
}

/** Fills in missing times; a condition that held before keeps its time. */
export function stampConditions(draft: Draft<Request>, old: Request, request: RequestFacts | undefined): void {
  if (request === undefined) return;
  const now = formatTime(instantOf(request.now));
  for (const condition of draft.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    const same = ({ type, status }: Condition) => type === condition.type && status === condition.status;
    const before = (old.status?.conditions ?? []).find(
      (one) => same(one) && (one.lastTransitionTime ?? undefined) !== undefined,
    );
    condition.lastTransitionTime ??= before?.lastTransitionTime ?? now;
  }
}

export function ofType<One extends { readonly type: string }>(
  conditions: readonly One[] | undefined,
  type: string,
): readonly One[] {
  return (conditions ?? []).filter((condition) => condition.type === type);
}
