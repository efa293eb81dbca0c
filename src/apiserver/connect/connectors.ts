/** Subresources that are not a part of their object, by `plural/name`. */
import type { Dispatch } from "../dispatch.ts";

export function connectors(): Dispatch["connectors"] {
  return new Map();
}
