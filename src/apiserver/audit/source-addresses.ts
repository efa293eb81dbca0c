/** Where a request came from: the addresses that proxies report, then the address of the connection. */
import { isIP } from "node:net";
import type { ApiRequest } from "../http/exchange.ts";

const THIS_PROCESS = "127.0.0.1";

export function sourceAddresses({ headers, remoteAddress }: ApiRequest): readonly string[] {
  const remote = addressOf(remoteAddress ?? THIS_PROCESS);
  const forwarded = headers["x-forwarded-for"];
  const real = headers["x-real-ip"];
  if (forwarded === undefined && real === undefined) return remote === undefined ? [] : [remote];
  const addresses = (forwarded ?? "").split(",").flatMap((part) => addressOf(part.trim()) ?? []);
  const reported = real === undefined ? undefined : addressOf(real);
  if (reported !== undefined && !addresses.includes(reported)) addresses.push(reported);
  // The address of the connection cannot be forged; the last proxy may have reported it already.
  if (remote !== undefined && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

/** Undefined if the text is not an address. */
function addressOf(text: string): string | undefined {
  switch (isIP(text)) {
    case 4:
      return text;
    case 6:
      return text.toLowerCase().startsWith("::ffff:") && text.includes(".") ? text.slice(7) : text.toLowerCase();
    default:
      return undefined;
  }
}
