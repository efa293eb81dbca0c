/** Names of images: registry, repository, tag, digest. */

export interface ImageName {
  /** Default: `docker.io`. */
  readonly registry: string;
  /** Without registry, tag and digest. */
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const REGISTRY = /^(?:\[[0-9a-fA-F:]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::\d+)?$/;

/** Undefined if it is not a valid image name. */
export function parseImageName(text: string): ImageName | undefined {
  const [named = "", digest = "", ...more] = text.split("@");
  if (more.length > 0 || (text.includes("@") && !/^[a-z0-9]+:[0-9a-f]{32,}$/.test(digest))) return undefined;
  const slash = named.indexOf("/");
  const first = slash < 0 ? "" : named.slice(0, slash);
  const hasRegistry = first !== "" && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const rest = hasRegistry ? named.slice(slash + 1) : named;
  const colon = rest.lastIndexOf(":");
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? "" : rest.slice(colon + 1);
  if (!REPOSITORY.test(path) || (colon >= 0 && !/^[\w][\w.-]{0,127}$/.test(tag))) return undefined;
  if (hasRegistry && !REGISTRY.test(first)) return undefined;
  const repository = hasRegistry || path.includes("/") ? path : `library/${path}`;
  return { registry: hasRegistry ? first : "docker.io", repository, tag, digest };
}

/** With `:latest` if there is neither tag nor digest. */
export function withDefaultTag(text: string): string {
  const name = parseImageName(text);
  return name === undefined || name.tag !== "" || name.digest !== "" ? text : `${text}:latest`;
}
