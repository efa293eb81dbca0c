/** Usage of PersistentVolumeClaims: their number and their storage, in total and for each storage class. */
import { equalJson } from "../../machinery/json/equal.ts";
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityOf,
  roundUpQuantity,
} from "../../machinery/scalars/quantity.ts";
import type { PersistentVolumeClaim, ScopedResourceSelectorRequirement } from "../../types/core-v1.ts";
import type { Totals } from "../pod/resources/container-totals.ts";
import { countName, type QuotaEvaluator, type QuotaWrite, selectsValue } from "./evaluator.ts";

const COUNT = countName("", "persistentvolumeclaims");
const CLAIMS = "persistentvolumeclaims";
const STORAGE = "requests.storage";
const OF_CLASS = ".storageclass.storage.k8s.io/";
const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

export const claimQuota: QuotaEvaluator = {
  group: "",
  plural: "persistentvolumeclaims",
  handles,
  matching: (names) => names.filter(isOfClaims),
  matchesScope: (scope, object) => matchesScope(scope, object as PersistentVolumeClaim),
  usage: (object) => usage(object as PersistentVolumeClaim),
};

/** The beta annotation takes precedence over the field. */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[CLASS_ANNOTATION] !== undefined || spec?.storageClassName !== undefined;
}

function handles({ subresource, object, old }: QuotaWrite): boolean {
  if (subresource === "") return true;
  if (subresource !== "status" || old === undefined) return false;
  const [next, before] = [object as PersistentVolumeClaim, old as PersistentVolumeClaim];
  const storage = (claim: PersistentVolumeClaim) => claim.status?.allocatedResources?.storage ?? "";
  return storage(next) !== storage(before) || !equalJson([...attributesClasses(next)], [...attributesClasses(before)]);
}

function isOfClaims(name: string): boolean {
  const [, ofClass = name] = name.split(OF_CLASS);
  return name === COUNT || ofClass === CLAIMS || ofClass === STORAGE;
}

function usage(claim: PersistentVolumeClaim): Totals {
  const one = quantityOf(1);
  const storageClass = storageClassOf(claim);
  const storage = storageOf(claim);
  const ofClass = (name: string, amount: Quantity) =>
    storageClass === "" ? {} : { [storageClass + OF_CLASS + name]: amount };
  return {
    [CLAIMS]: one,
    [COUNT]: one,
    ...ofClass(CLAIMS, one),
    ...(storage !== undefined && { [STORAGE]: storage, ...ofClass(STORAGE, storage) }),
  };
}

/** In whole bytes; while a volume is resized, the allocated size counts if it is larger. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.storage;
  if (asked === undefined) return undefined;
  const request = roundUpQuantity(parseQuantity(asked), 0);
  const allocated = status?.allocatedResources?.storage;
  if (allocated === undefined) return request;
  const given = parseQuantity(allocated);
  return compareQuantities(given, request) > 0 ? roundUpQuantity(given, 0) : request;
}

function matchesScope(scope: ScopedResourceSelectorRequirement, claim: PersistentVolumeClaim): boolean {
  if ((scope.scopeName as string) !== "VolumeAttributesClass") return false;
  const classes = attributesClasses(claim);
  if (classes.size === 0) return selectsValue(scope, undefined);
  return [...classes].some((name) => selectsValue(scope, name));
}

/** The volume attributes classes that the volume has, is to have, or is changing to. */
function attributesClasses({ spec, status }: PersistentVolumeClaim): ReadonlySet<string> {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return new Set(names.filter((name): name is string => name !== undefined && name !== "").sort());
}
