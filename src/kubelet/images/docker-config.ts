/** Docker's files of credentials: config.json, and the older .dockercfg. Pure. */
import { isObject, type JsonObject } from "#api";
import type { ImageAuth } from "../runtime/runtime.ts";

export interface DockerEntry {
  readonly location: string;
  readonly auth: ImageAuth;
}

/** Of a text that makes no sense: none. The user sees that the pull fails. */
export function dockerEntries(text: string, format: "dockercfg" | "dockerconfigjson"): readonly DockerEntry[] {
  const parsed = parse(text);
  const auths = format === "dockercfg" ? parsed : parsed?.auths;
  if (!isObject(auths)) return [];
  return Object.entries(auths).flatMap(([location, value]) =>
    isObject(value) ? [{ location, auth: authOf(value) }] : [],
  );
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as JsonObject) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** `auth` counts before username and password. */
function authOf({ username, password, auth, identitytoken }: JsonObject): ImageAuth {
  const own = typeof username === "string" && typeof password === "string" ? { username, password } : {};
  return {
    ...own,
    ...decoded(auth),
    ...(typeof identitytoken === "string" && identitytoken !== "" && { identityToken: identitytoken }),
  };
}

function decoded(auth: unknown): ImageAuth {
  if (typeof auth !== "string" || auth === "") return {};
  const text = Buffer.from(auth, "base64").toString();
  const colon = text.indexOf(":");
  return colon < 0 ? {} : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
