import { requireOneOf } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../machinery/errors/field-error.ts";
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from "../types/flowcontrol-v1.ts";

const maxQueues = 10_000_000;
/** Shuffle sharding takes a hand of queues from a hash of 64 bits, of which this many may be used. */
const maxEntropyBits = 60;

export function validatePriorityLevel(
  { metadata, spec }: PriorityLevelConfiguration,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("spec");
  const type = spec?.type ?? "";
  const errors: FieldError[] = [];
  if ((metadata.name === "exempt") !== (type === "Exempt")) {
    errors.push(invalid(where.child("type"), type, "type must be 'Exempt' if and only if name is 'exempt'"));
  }
  if (type === "Exempt") {
    if (spec?.limited !== undefined)
      errors.push(forbidden(where.child("limited"), "must be nil if the type is not Limited"));
    const { nominalConcurrencyShares: shares = 0, lendablePercent: percent } = spec?.exempt ?? {};
    if (shares < 0)
      errors.push(invalid(where.child("exempt", "nominalConcurrencyShares"), shares, "must be a non-negative integer"));
    errors.push(...percentFaults(percent, where.child("exempt", "lendablePercent")));
  } else if (type === "Limited") {
    if (spec?.exempt !== undefined) errors.push(forbidden(where.child("exempt"), "must be nil if the type is Limited"));
    if (spec?.limited === undefined)
      errors.push(required(where.child("limited"), "must not be empty when type is Limited"));
    else errors.push(...validateLimited(spec.limited, where.child("limited")));
  } else {
    errors.push(...requireOneOf(type, ["Exempt", "Limited"], where.child("type")));
  }
  return errors;
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, path: FieldPath): readonly FieldError[] {
  const { nominalConcurrencyShares: shares = 0, borrowingLimitPercent: borrowing, lendablePercent } = limited;
  const errors: FieldError[] = [];
  if (shares < 0)
    errors.push(invalid(path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer"));
  errors.push(...validateResponse(limited.limitResponse ?? { type: "" }, path.child("limitResponse")));
  errors.push(...percentFaults(lendablePercent, path.child("lendablePercent")));
  if (borrowing !== undefined && borrowing < 0) {
    errors.push(
      invalid(path.child("borrowingLimitPercent"), borrowing, "if specified, must be a non-negative integer"),
    );
  }
  return errors;
}

function validateResponse({ type, queuing }: LimitResponse, path: FieldPath): readonly FieldError[] {
  const where = path.child("queuing");
  switch (type) {
    case "Reject":
      return queuing === undefined
        ? []
        : [forbidden(where, "must be nil if limited.limitResponse.type is not Limited")];
    case "Queue":
      if (queuing === undefined) return [required(where, "must not be empty if limited.limitResponse.type is Limited")];
      return validateQueuing(queuing, where);
    default:
      return requireOneOf(type, ["Queue", "Reject"], path.child("type"));
  }
}

function validateQueuing(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (queueLengthLimit <= 0) errors.push(invalid(path.child("queueLengthLimit"), queueLengthLimit, "must be positive"));
  if (queues <= 0) errors.push(invalid(path.child("queues"), queues, "must be positive"));
  else if (queues > maxQueues)
    errors.push(invalid(path.child("queues"), queues, `must not be greater than ${maxQueues}`));
  if (handSize <= 0) errors.push(invalid(path.child("handSize"), handSize, "must be positive"));
  else if (handSize > queues)
    errors.push(invalid(path.child("handSize"), handSize, `should not be greater than queues (${queues})`));
  else if (entropyBits(queues, handSize) > maxEntropyBits) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxEntropyBits}`;
    errors.push(invalid(path.child("handSize"), handSize, why));
  }
  return errors;
}

function entropyBits(deck: number, hand: number): number {
  let coversAll = 1;
  for (let i = 0; i < hand; i++) coversAll *= deck - i;
  return Math.ceil(Math.log2(coversAll));
}

function percentFaults(percent: number | undefined, path: FieldPath): readonly FieldError[] {
  return percent !== undefined && (percent < 0 || percent > 100)
    ? [invalid(path, percent, "must be between 0 and 100, inclusive")]
    : [];
}
