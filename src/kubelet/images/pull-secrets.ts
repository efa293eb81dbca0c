/** Registry credentials from Secrets of the types dockercfg and dockerconfigjson. */
import { type core, isObject, type JsonObject } from "#api";
import type { ImageAuth } from "../runtime/runtime.ts";
import { parseImageName } from "./image-name.ts";

/** The credentials for the image, the most specific first. */
export function credentialsFor(image: string, secrets: readonly core.Secret[]): readonly ImageAuth[] {
  const name = parseImageName(image);
  if (name === undefined) return [];
  const target = `${name.registry}/${name.repository}`;
  return secrets
    .flatMap(entriesOf)
    .filter(({ where }) => fits(where, target))
    .sort((a, b) => b.where.length - a.where.length)
    .map(({ auth }) => auth);
}

interface Entry {
  readonly where: string;
  readonly auth: ImageAuth;
}

function entriesOf({ data = {}, type }: core.Secret): Entry[] {
  const text = type === "kubernetes.io/dockercfg" ? data[".dockercfg"] : data[".dockerconfigjson"];
  if (text === undefined) return [];
  const parsed = parse(Buffer.from(text, "base64").toString());
  const auths = type === "kubernetes.io/dockercfg" ? parsed : parsed?.auths;
  if (!isObject(auths)) return [];
  return Object.entries(auths).flatMap(([key, value]) => {
    if (!isObject(value)) return [];
    const where = key.replace(/^https?:\/\//, "").replace(/\/(v[12]\/?)?$/, "");
    const serverAddress = where;
    return [{ where: where === "index.docker.io" ? "docker.io" : where, auth: { ...authOf(value), serverAddress } }];
  });
}

/** A Secret with invalid JSON has no credentials: the user sees that the pull fails. */
function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as JsonObject) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function authOf(value: JsonObject): ImageAuth {
  const { username, password, auth, identitytoken } = value;
  const own = typeof username === "string" && typeof password === "string" ? { username, password } : decoded(auth);
  return { ...own, ...(typeof identitytoken === "string" && { identityToken: identitytoken }) };
}

function decoded(auth: unknown): ImageAuth {
  if (typeof auth !== "string") return {};
  const text = Buffer.from(auth, "base64").toString();
  const colon = text.indexOf(":");
  return colon < 0 ? {} : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** `*` matches one DNS label; an entry with a path matches everything below it. */
function fits(where: string, target: string): boolean {
  const [host = "", ...path] = where.split("/");
  const [targetHost = "", ...targetPath] = target.split("/");
  const labels = host.split(".");
  const targetLabels = targetHost.split(".");
  const sameHost =
    labels.length === targetLabels.length && labels.every((label, at) => label === "*" || label === targetLabels[at]);
  return sameHost && path.every((part, at) => part === targetPath[at]);
}
