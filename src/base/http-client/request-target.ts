/**
 * The target of a request as servers receive it: path and query.
 *
 * 1. Any text has one. `new URL` throws for texts such as `//`, which everybody can send before they are known.
 * 2. Nothing is decoded or resolved: a path with dot segments is a path of its own.
 */
export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
}

export function requestTarget(url: string | undefined): RequestTarget {
  const given = url ?? "/";
  const at = given.indexOf("?");
  return at === -1
    ? { path: given, query: new URLSearchParams() }
    : { path: given.slice(0, at), query: new URLSearchParams(given.slice(at + 1)) };
}
