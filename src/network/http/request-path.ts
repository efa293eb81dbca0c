/**
 * The path of a request as routes are looked up by, which is the one that endpoints see: a path that climbs (`/public/../admin`) is
 * resolved before, or it would be looked up as one thing and understood as another.
 */

const CLIMBS = /\/(?:\.|%2e)/i;

/** Path and query; undefined for what is no path. */
export function requestPath(url: string): { readonly path: string; readonly query: string } | undefined {
  const mark = url.indexOf("?");
  const query = mark === -1 ? "" : url.slice(mark);
  const path = mark === -1 ? url : url.slice(0, mark);
  if (path.startsWith("/")) return CLIMBS.test(path) ? { path: resolved(path), query } : { path, query };
  // The absolute form, as it is sent to proxies (RFC 9112).
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return { path: pathname, query: search };
}

function resolved(path: string): string {
  // A host of its own keeps `//a` from being read as one.
  return new URL(`http://host${path}`).pathname;
}
