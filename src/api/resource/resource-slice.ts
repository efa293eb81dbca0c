import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { RequestFacts } from "../machinery/kind.ts";
import { formatTime, instantOf } from "../machinery/scalars/time.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { ResourceSlice as ResourceSliceObject } from "../types/resource-v1.ts";
import { validateSlice } from "./slice-validation.ts";

const spec = "io.k8s.api.resource.v1.ResourceSliceSpec";

/** ResourceSlice: devices that a driver offers. */
export const ResourceSlice = defineKind<ResourceSliceObject>("resource.k8s.io/v1", "ResourceSlice", {
  generation: "spec",
  create: {
    prepare: stampTaints,
    validate: ({ spec }, path) => validateSlice(spec, undefined, path.child("spec")),
  },
  update: {
    prepare: (draft, _old, request) => stampTaints(draft, request),
    validate: ({ spec }, old, path) => validateSlice(spec, old.spec, path.child("spec")),
  },
  warnings: ({ spec: { driver } }) =>
    driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${goQuote(driver)} contains uppercase characters`],
  columns: [
    { name: "Node", type: "string", doc: `${spec}.nodeName`, cell: ({ spec }) => spec.nodeName ?? "" },
    { name: "Driver", type: "string", doc: `${spec}.driver`, cell: ({ spec }) => spec.driver },
    {
      name: "Pool",
      type: "string",
      doc: "io.k8s.api.resource.v1.ResourcePool.name",
      cell: ({ spec }) => spec.pool.name,
    },
    ageColumn,
  ],
  selectableFields: {
    names: ["spec.nodeName", "spec.driver"],
    valueOf: ({ spec }, name) => (name === "spec.driver" ? spec.driver : (spec.nodeName ?? "")),
  },
});

/** A taint without a time is timed now. */
function stampTaints({ spec }: Draft<ResourceSliceObject>, request?: RequestFacts): void {
  if (request === undefined) return;
  for (const { taints = [] } of spec.devices ?? []) {
    for (const taint of taints) taint.timeAdded ??= formatTime(instantOf(request.now));
  }
}
