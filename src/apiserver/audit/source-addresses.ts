/** Where a request came from: through which proxies, as they say, and from which address, as the connection shows. */
import { isIP } from "node:net";
import type { ApiRequest } from "../http/exchange.ts";

const THIS_PROCESS = "127.0.0.1";

export function sourceAddresses({ headers, remoteAddress }: ApiRequest): readonly string[] {
  const remote = addressOf(remoteAddress ?? THIS_PROCESS);
  const forwarded = headers["x-forwarded-for"];
  const real = headers["x-real-ip"];
  if (forwarded === undefined && real === undefined) return remote === undefined ? [] : [remote];
  const addresses = (forwarded ?? "").split(",").flatMap((part) => addressOf(part.trim()) ?? []);
  const told = real === undefined ? undefined : addressOf(real);
  if (told !== undefined && !addresses.includes(told)) addresses.push(told);
  // It cannot be made up; but the last proxy may have told it already.
  if (remote !== undefined && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

/** Undefined if it is none. */
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
