/** A CustomResourceDefinition from what differs between the kinds. */
import type { apiextensions } from "#api";
import { type Column, type Schema, text } from "./schema.ts";

export type Definition = apiextensions.CustomResourceDefinition;

export interface DefinitionParts {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: "Cluster" | "Namespaced";
  /** The version in which objects are stored comes first. All have the same schema. */
  readonly versions: readonly [string, ...string[]];
  readonly approval: string;
  readonly hasStatus: boolean;
  readonly columns: readonly Column[];
  readonly schema: Schema;
}

export function definitionOf(parts: DefinitionParts): Definition {
  const { group, kind, plural, shortNames, scope, versions, approval, hasStatus, columns, schema } = parts;
  const { properties, ...rest } = schema;
  const whole: Schema = {
    ...rest,
    properties: { apiVersion: text("The group and version of the object."), kind: text("Its kind."), ...properties },
  };
  return {
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": approval } },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames },
      versions: versions.map((name, at) => ({
        name,
        served: true,
        storage: at === 0,
        schema: { openAPIV3Schema: whole },
        additionalPrinterColumns: columns,
        ...(hasStatus && { subresources: { status: {} } }),
      })),
    },
  };
}
