/** The documentation of a field, by `type.field`, if it is installed. */
import { installedDescriptions } from "../openapi/index.ts";

const descriptions = installedDescriptions(import.meta.url);

export function describeColumn(doc: string): string | undefined {
  const dot = doc.lastIndexOf(".");
  return descriptions.type(doc.slice(0, dot), doc.slice(dot + 1));
}
