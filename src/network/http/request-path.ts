/**
 * The path that routes are looked up by, which is also the path that endpoints receive: dot segments
 * (`/public/../admin`) are resolved first, or a route for one path would serve another.
 */

const DOT_SEGMENT = /\/(?:\.|%2e)/i;

/** Path and query; undefined if the URL has no path. */
export function requestPath(url: string): { readonly path: string; readonly query: string } | undefined {
  const mark = url.indexOf("?");
  const query = mark === -1 ? "" : url.slice(mark);
  const path = mark === -1 ? url : url.slice(0, mark);
  if (path.startsWith("/")) return DOT_SEGMENT.test(path) ? { path: resolved(path), query } : { path, query };
  // The absolute form of requests to proxies (RFC 9112).
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return { path: pathname, query: search };
}

function resolved(path: string): string {
  // With a host in front, `//a` is not read as a host.
  return new URL(`http://host${path}`).pathname;
}
