/** The headers that are passed to an extension server and back. Hop-by-hop headers are not. */

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

/** CORS is decided by this server alone. */
const OF_ORIGINS = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
]);

/** `keep`: hop-by-hop headers to pass on nevertheless, as in an upgrade. */
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
