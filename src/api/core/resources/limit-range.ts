import { defineKind } from "../../definition/define-kind.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type { LimitRangeItem, LimitRange as LimitRangeObject } from "../../types/core-v1.ts";
import { validateLimitRange } from "./limit-range-validation.ts";

export const LimitRange = defineKind<LimitRangeObject>("v1", "LimitRange", {
  defaults: ({ spec }) => {
    for (const item of spec?.limits ?? []) if (item.type === "Container") defaultItem(item);
  },
  create: {
    // It may be created without a name: then it has that of its uid.
    prepare: ({ metadata }) => {
      if (!metadata.name && metadata.uid !== undefined) metadata.name = metadata.uid;
    },
  },
  update: { allowCreate: true },
  validate: validateLimitRange,
});

/** A missing default limit is the maximum; a missing default request is the default limit, else the minimum. */
function defaultItem(item: Draft<LimitRangeItem>): void {
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = sorted(limits);
  if (Object.keys(requests).length > 0) item.defaultRequest = sorted(requests);
}

function sorted(amounts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
