/** Hosts of listeners and routes. A wildcard matches one label or more; an empty name matches all hosts. */

/** The hosts that a listener and a route have in common. */
export function sharedHosts(listener: string | undefined, route: readonly string[]): string[] {
  const own = (listener ?? "").toLowerCase();
  if (route.length === 0) return [own];
  return route.flatMap((each) => {
    const host = each.toLowerCase();
    if (covers(own, host)) return [host];
    return covers(host, own) ? [own] : [];
  });
}

/** Whether the pattern matches the host. */
export function covers(pattern: string, host: string): boolean {
  if (pattern === "" || pattern === host) return true;
  return pattern.startsWith("*.") && host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}

/** Exact names first, then the longest wildcard. */
export function bySpecificity(a: string, b: string): number {
  const rank = (host: string) => (host === "" ? 0 : host.startsWith("*.") ? 1 : 2);
  return rank(b) - rank(a) || b.length - a.length;
}
