/**
 * How large a volume becomes, and whether there is room for it. Pure.
 *
 * 1. What was promised to volumes is never given away again: free space counts only beyond what they may still fill.
 * 2. A snapshot is sparse and never grows: what it takes is taken from free space already.
 */
import { table } from "#base";
import { GrpcError } from "#grpc";
import type { CsiReceived } from "../../csi/services.ts";
import { invalid } from "./requests.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

export const MIN_BYTES = MIB;
/** The limit of ext4 with blocks of 4 KiB. */
export const MAX_BYTES = 16 * 1024 * GIB;
const DEFAULT_BYTES = GIB;
const STEP = 4096;

export interface SizeRange {
  readonly required: number;
  /** 0: none. */
  readonly limit: number;
}

export function rangeOf(range: CsiReceived<"CapacityRange"> | null): SizeRange {
  const [required, limit] = [Number(range?.requiredBytes ?? 0), Number(range?.limitBytes ?? 0)];
  if (required < 0 || limit < 0) throw invalid("capacity_range has negative bytes");
  if (limit > 0 && limit < required) throw invalid("capacity_range.limit_bytes is less than required_bytes");
  return { required, limit };
}

/** `smallest`: what its file system needs; `least`: what the content takes already. */
export function sizeFor({ required, limit }: SizeRange, smallest = 0, least = 0): number {
  const wanted = required > 0 ? required : least || Math.min(DEFAULT_BYTES, limit || DEFAULT_BYTES);
  if (required > 0 && required < least)
    throw new GrpcError("OUT_OF_RANGE", `${required} bytes are less than the ${least} bytes of the source`);
  const bytes = Math.ceil(Math.max(wanted, smallest, MIN_BYTES) / STEP) * STEP;
  if (bytes > MAX_BYTES)
    throw new GrpcError("OUT_OF_RANGE", `${bytes} bytes are more than a volume can have: ${MAX_BYTES}`);
  if (limit > 0 && bytes > limit)
    throw new GrpcError(
      "OUT_OF_RANGE",
      `a volume has at least ${bytes} bytes here, which is more than the limit ${limit}`,
    );
  return bytes;
}

export function isWithin(bytes: number, { required, limit }: SizeRange): boolean {
  return bytes >= required && (limit === 0 || bytes <= limit);
}

/** What a volume or snapshot takes of the disk, and how much of that it has already. */
export interface Burden {
  readonly promised: number;
  readonly allocated: number;
}

/** What may still be promised; negative if others have taken it. `limit`: what all may take together. */
export function availableBytes(free: number, burdens: readonly Burden[], limit = Number.POSITIVE_INFINITY): number {
  const owed = burdens.reduce((sum, { promised, allocated }) => sum + Math.max(0, promised - allocated), 0);
  const promised = burdens.reduce((sum, each) => sum + each.promised, 0);
  return Math.min(Math.floor(free - owed), limit - promised);
}

export function ensureRoom(more: number, available: number): void {
  if (more <= available) return;
  throw new GrpcError("RESOURCE_EXHAUSTED", `${more} bytes are needed, and ${available} bytes are left on this node`);
}

/** The `size` of an inline volume, in the notation of quantities. */
export function inlineSize(text: string | undefined): number {
  if (text === undefined) return DEFAULT_BYTES;
  const [, digits = "", unit = ""] = /^(\d+)(Ki|Mi|Gi|Ti|k|M|G|T)?$/.exec(text) ?? [];
  if (digits === "") throw invalid(`size "${text}" is not a quantity such as 64Mi`);
  return Number(digits) * (UNITS[unit] ?? 1);
}

const UNITS = table({
  Ki: 1024,
  Mi: MIB,
  Gi: GIB,
  Ti: 1024 * GIB,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
});
