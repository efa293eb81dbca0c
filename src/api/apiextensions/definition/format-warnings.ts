/** Formats that nobody checks: who names one anew is told so. */
import { goQuote } from "../../machinery/json/go-text.ts";
import type { CustomResourceDefinition } from "../../types/apiextensions-v1.ts";
import { isKnownFormat } from "../values/formats.ts";
import { hoist, schemasOf } from "./hoisted.ts";
import { schemasWithin } from "./walk.ts";

export function formatWarnings(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): readonly string[] {
  const before = new Set(old === undefined ? [] : unknownFormats(old));
  return unknownFormats(definition)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unknownFormats({ spec }: CustomResourceDefinition): readonly string[] {
  // A schema that all versions share is looked at once.
  const shared = hoist(spec).top.schema?.openAPIV3Schema;
  const schemas = shared === undefined ? schemasOf(spec) : [shared];
  return schemas.flatMap((root) =>
    [...schemasWithin(root)].flatMap(({ format, type = "" }) =>
      format && !isKnownFormat(format, type) ? [format] : [],
    ),
  );
}
