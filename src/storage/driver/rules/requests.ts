/** Fields that a request must have. Pure. */
import { GrpcError } from "#grpc";
import { ownKeys } from "./names.ts";

export function invalid(message: string): GrpcError {
  return new GrpcError("INVALID_ARGUMENT", message);
}

/** `field`: as the specification spells it. */
export function needed(value: string, field: string): string {
  if (value === "") throw invalid(`${field} is missing`);
  return value;
}

export function neededMessage<T>(value: T | null, field: string): T {
  if (value === null) throw invalid(`${field} is missing`);
  return value;
}

export function neededList<T>(values: readonly T[], field: string): readonly T[] {
  if (values.length === 0) throw invalid(`${field} is missing`);
  return values;
}

/** Nothing is silently ignored. */
export function refuseKeys(map: Readonly<Record<string, string>>, field: string, known: readonly string[] = []): void {
  const unknown = ownKeys(map).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    throw invalid(`${field} has keys that this driver does not know: ${unknown.sort().join(", ")}`);
}
