/** The names of reverse lookups, and addresses in names. */

export function reverseName(address: string): string {
  if (!address.includes(":")) return `${address.split(".").reverse().join(".")}.in-addr.arpa`;
  const digits = groupsOf(address)
    .map((group) => group.toString(16).padStart(4, "0"))
    .join("");
  return `${[...digits].reverse().join(".")}.ip6.arpa`;
}

/** The eight groups of an IPv6 address, whose end may be written as IPv4. */
export function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const before = groups(head);
  if (tail === undefined) return before;
  const after = groups(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** `10-0-0-1` is 10.0.0.1, `2001-db8--1` is 2001:db8::1; undefined for anything else. */
export function undashed(label: string): string | undefined {
  if (/^\d{1,3}(-\d{1,3}){3}$/.test(label)) {
    const address = label.replaceAll("-", ".");
    return address.split(".").every((part) => Number(part) < 256) ? address : undefined;
  }
  if (!/^[0-9a-f-]+$/.test(label) || !label.includes("-")) return undefined;
  const address = label.replaceAll("-", ":");
  const parts = address.split(":");
  const short = address.includes("::");
  const fits = parts.length <= 8 && parts.every((part) => part.length <= 4) && address.split("::").length <= 2;
  return fits && (short || parts.length === 8) ? address : undefined;
}
