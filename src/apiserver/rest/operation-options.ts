/** The options of a request as admission gets them: a CreateOptions, UpdateOptions or DeleteOptions object. */
import type { JsonObject } from "#api";
import type { DeleteOptions } from "./options.ts";

const API_VERSION = "meta.k8s.io/v1";

export function writeOptionsObject(kind: "CreateOptions" | "UpdateOptions", query: URLSearchParams): JsonObject {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const [fieldManager, fieldValidation] = [query.get("fieldManager"), query.get("fieldValidation")];
  return {
    kind,
    apiVersion: API_VERSION,
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager && { fieldManager }),
    ...(fieldValidation && { fieldValidation }),
  };
}

export function deleteOptionsObject(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, preconditions, propagationPolicy, dryRun } = options;
  return {
    kind: "DeleteOptions",
    apiVersion: API_VERSION,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && { dryRun: ["All"] }),
  };
}
