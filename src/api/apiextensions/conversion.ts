/** Conversion without a webhook: versions of a definition that all describe the same fields differ in nothing but their name. */
import type { KubeObject } from "../machinery/schema/object.ts";

/** The object itself if it speaks that version already. */
export function convertNone<T extends KubeObject>(object: T, toApiVersion: string): T {
  return object.apiVersion === toApiVersion ? object : { ...object, apiVersion: toApiVersion };
}
