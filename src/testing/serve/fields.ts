/** Bodies of requests: objects with known fields, and nothing else. */
import { badRequest } from "#api";
import type { ApiRequest } from "../../apiserver/http/exchange.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** Each field, and what `typeof` says of its value. `list`: an array. `duration`: a number of milliseconds, or text. */
export type Fields = Readonly<Record<string, "string" | "number" | "boolean" | "list" | "duration">>;

export async function bodyOf(request: ApiRequest, fields: Fields): Promise<Readonly<Record<string, unknown>>> {
  const text = (await request.body(MAX_BODY_BYTES)).toString();
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is no JSON: ${(error as Error).message}`);
  }
  return readFields(value, fields, "the body");
}

/** Throws a StatusError for fields that are unknown or of another type. */
export function readFields(value: unknown, fields: Fields, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw badRequest(`${what} is no object`);
  for (const [name, given] of Object.entries(value)) {
    const wanted = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (wanted === undefined)
      throw badRequest(`${what} has an unknown field "${name}": there are ${Object.keys(fields).join(", ")}`);
    if (!isA(given, wanted)) throw badRequest(`${what} has no ${wanted} as "${name}"`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function isA(value: unknown, wanted: Fields[string]): boolean {
  if (wanted === "list") return Array.isArray(value);
  if (wanted === "duration") return typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
  return typeof value === wanted;
}
