/** Written by scripts/api-types.ts: not to be edited. */
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { ListMeta } from "./meta-v1.ts";

export interface Lease {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: LeaseSpec;
}

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

export interface LeaseList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Lease[];
}

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
  readonly strategy?: string;
  readonly preferredHolder?: string;
}
