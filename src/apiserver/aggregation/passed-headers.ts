/** Which headers go on to an extension server, and which of its own come back: those that are about a single connection do neither. */

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const OF_CONNECTION = new Set([
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

/** A browser that may read answers of this server need not be allowed to by the other one. */
const OF_ORIGINS = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
]);

/** `keep`: of those about a connection, what becomes of the next one too, as in an upgrade. */
export function passedOn(headers: Headers, keep: readonly string[] = []): Record<string, string | string[]> {
  const named = new Set(listed(headers.connection));
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    if ((OF_CONNECTION.has(name) || named.has(name)) && !keep.includes(name)) continue;
    kept[name] = typeof value === "string" ? value : [...value];
  }
  return kept;
}

export function passedBack(headers: Headers, keep: readonly string[] = []): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(passedOn(headers, keep)).filter(([name]) => !OF_ORIGINS.has(name)));
}

function listed(value: string | readonly string[] | undefined): string[] {
  const text = typeof value === "string" ? value : (value ?? []).join();
  return text.split(",").map((name) => name.trim().toLowerCase());
}
