/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface LeaseCandidate {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: LeaseCandidateSpec;
}

export interface LeaseCandidateList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly LeaseCandidate[];
}

export interface LeaseCandidateSpec {
  readonly leaseName: string;
  readonly pingTime?: string;
  readonly renewTime?: string;
  readonly binaryVersion: string;
  readonly emulationVersion?: string;
  readonly strategy: string;
}
