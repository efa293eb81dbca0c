/** Image names as registries understand them: `registry:5000/team/app:v1@sha256:…`. */

const component = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const path = new RegExp(`^${component}(?:/${component})*$`);
const domain =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::\d+)?$/;
const ends =
  /^(.*?)(?::([\w][\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$/s;
const identifier = /^[a-f0-9]{64}$/;
const longestName = 255;

export const pullPolicies = ["Always", "IfNotPresent", "Never"];

/** An image with a moving tag is pulled each time. */
export function defaultPullPolicy(image: string | undefined): "Always" | "IfNotPresent" {
  return imageTag(image ?? "") === "latest" ? "Always" : "IfNotPresent";
}

/**
 * The tag; `latest` where neither tag nor digest is given, undefined where there is only a digest or the name is
 * invalid.
 */
export function imageTag(image: string): string | undefined {
  if (identifier.test(image)) return undefined;
  const [, name = "", tag, digest] = ends.exec(image) ?? [];
  if (!isName(name)) return undefined;
  return tag ?? (digest === undefined ? "latest" : undefined);
}

function isName(name: string): boolean {
  const slash = name.indexOf("/");
  const first = name.slice(0, Math.max(slash, 0));
  const hasDomain = slash >= 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  if (name.length > longestName) return false;
  return hasDomain ? domain.test(first) && path.test(name.slice(slash + 1)) : path.test(name);
}
