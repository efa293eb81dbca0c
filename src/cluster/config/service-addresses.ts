/** Addresses that a cluster's Services have by convention: a place in the first range of each family. */
import { formatIp, parseCidr } from "#api";

export const DEFAULT_SERVICE_RANGE = "10.96.0.0/12";
/** The Service `kubernetes`. */
const KUBERNETES_PLACE = 1;

/** The n-th address of a range; undefined if it is no range. */
export function addressIn(range: string, place: number): string | undefined {
  const cidr = parseCidr(range);
  if (cidr === undefined) return undefined;
  const bytes = cidr.bytes.map((byte, at) => byte & maskAt(cidr.prefixLength, at));
  const last = bytes.length - 1;
  return formatIp({ bytes: bytes.map((byte, at) => (at === last ? byte + place : byte)) });
}

/** The addresses of the Service `kubernetes`: of each family, since a cluster may turn to its second range. */
export function kubernetesAddresses(ranges: readonly string[] = [DEFAULT_SERVICE_RANGE]): readonly string[] {
  return ranges.flatMap((range) => addressIn(range, KUBERNETES_PLACE) ?? []);
}

function maskAt(prefixLength: number, at: number): number {
  return (0xff << Math.max(0, 8 - Math.max(0, prefixLength - at * 8))) & 0xff;
}
