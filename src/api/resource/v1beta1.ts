/** resource.k8s.io/v1beta1 where it differs from what is stored: ResourceClaim, its template, ResourceSlice. */
import { defineKind } from "../definition/define-kind.ts";
import { same } from "../definition/field-checks.ts";
import { changeStored, storedForm } from "../definition/other-version.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type {
  ResourceClaim as ClaimV1,
  ResourceSlice as SliceV1,
  ResourceClaimTemplate as TemplateV1,
} from "../types/resource-v1.ts";
import type {
  ResourceClaim,
  ResourceClaimSpec,
  ResourceClaimTemplate,
  ResourceSlice,
} from "../types/resource-v1beta1.ts";
import { claims, claimTemplates, slices } from "./conversion-v1beta1.ts";
import { ResourceClaim as StoredClaim, ResourceClaimTemplate as StoredTemplate } from "./resource-claim.ts";
import { ResourceSlice as StoredSlice } from "./resource-slice.ts";

const version = "resource.k8s.io/v1beta1";
const claim = claims.toStored;
const template = claimTemplates.toStored;
const slice = slices.toStored;
const claimStatus = typeof StoredClaim.subresources?.status === "object" ? StoredClaim.subresources.status : {};

export const ResourceClaimV1beta1 = defineKind<ResourceClaim>(version, "ResourceClaim", {
  ...shared(StoredClaim),
  defaults: ({ spec }) => defaultClaimSpec(spec),
  create: { validate: (next, at) => StoredClaim.create?.validate?.(claim(next), at) ?? [] },
  update: { validate: (next, old, at) => StoredClaim.update?.validate?.(claim(next), claim(old), at) ?? [] },
  subresources: {
    status: {
      keeps: "nothing",
      validate: (next, old, at) => claimStatus.validate?.(claim(next), claim(old), at) ?? [],
    },
  },
  columns: (StoredClaim.columns ?? []).map((column) => ({
    ...column,
    cell: (object: ResourceClaim, now: number) => column.cell(claim(object), now),
  })),
  storedAs: storedForm<ResourceClaim, ClaimV1>(StoredClaim, claims),
});

export const ResourceClaimTemplateV1beta1 = defineKind<ResourceClaimTemplate>(version, "ResourceClaimTemplate", {
  ...shared(StoredTemplate),
  defaults: ({ spec }) => defaultClaimSpec(spec.spec),
  create: { validate: (next, at) => StoredTemplate.create?.validate?.(template(next), at) ?? [] },
  update: {
    validate: (next, old, at) => StoredTemplate.update?.validate?.(template(next), template(old), at) ?? [],
  },
  columns: (StoredTemplate.columns ?? []).map((column) => ({
    ...column,
    cell: (object: ResourceClaimTemplate, now: number) => column.cell(template(object), now),
  })),
  storedAs: storedForm<ResourceClaimTemplate, TemplateV1>(StoredTemplate, claimTemplates),
});

export const ResourceSliceV1beta1 = defineKind<ResourceSlice>(version, "ResourceSlice", {
  ...shared(StoredSlice),
  generation: { changed: (next, old) => !same(slice(next).spec, slice(old).spec) },
  create: {
    prepare: (draft, request) => changeStored(draft, slices, (form) => StoredSlice.create?.prepare?.(form, request)),
    validate: (next, at) => StoredSlice.create?.validate?.(slice(next), at) ?? [],
  },
  update: {
    prepare: (draft, old, request) =>
      changeStored(draft, slices, (form) => StoredSlice.update?.prepare?.(form, slice(old), request)),
    validate: (next, old, at) => StoredSlice.update?.validate?.(slice(next), slice(old), at) ?? [],
  },
  warnings: (next, old) => StoredSlice.warnings?.(slice(next), old && slice(old)) ?? [],
  columns: (StoredSlice.columns ?? []).map((column) => ({
    ...column,
    cell: (object: ResourceSlice, now: number) => column.cell(slice(object), now),
  })),
  selectableFields: {
    names: StoredSlice.selectableFields?.names ?? [],
    valueOf: (object, name) => StoredSlice.selectableFields?.valueOf(slice(object), name) ?? "",
  },
  storedAs: storedForm<ResourceSlice, SliceV1>(StoredSlice, slices),
});

/** Rules that do not look at the content of an object. */
function shared({ metaChecks, validateName }: typeof StoredClaim | typeof StoredTemplate | typeof StoredSlice) {
  return { ...(metaChecks ? { metaChecks } : {}), ...(validateName ? { validateName } : {}) };
}

/** One device, unless the request sets a count. Requests with alternatives have none of their own. */
function defaultClaimSpec({ devices }: Draft<ResourceClaimSpec>): void {
  for (const request of devices?.requests ?? []) {
    for (const alternative of [...(request.deviceClassName ? [request] : []), ...(request.firstAvailable ?? [])]) {
      alternative.allocationMode ||= "ExactCount";
      if (alternative.allocationMode === "ExactCount") alternative.count ||= 1;
    }
  }
}
