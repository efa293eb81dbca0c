/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { Condition, ListMeta } from "./meta-v1.ts";

export interface CELDeviceSelector {
  readonly expression: string;
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly timeAdded?: string;
}

export interface DeviceTaintRule {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: DeviceTaintRuleSpec;
  readonly status?: DeviceTaintRuleStatus;
}

export interface DeviceTaintRuleList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly DeviceTaintRule[];
}

export interface DeviceTaintRuleSpec {
  readonly deviceSelector?: DeviceTaintSelector;
  readonly taint: DeviceTaint;
}

export interface DeviceTaintRuleStatus {
  readonly conditions?: readonly Condition[];
}

export interface DeviceTaintSelector {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
}

export interface PoolStatus {
  readonly driver: string;
  readonly poolName: string;
  readonly generation: Int64;
  readonly resourceSliceCount?: number;
  readonly totalDevices?: number;
  readonly allocatedDevices?: number;
  readonly availableDevices?: number;
  readonly unavailableDevices?: number;
  readonly nodeName?: string;
  readonly validationError?: string;
}

export interface ResourcePoolStatusRequest {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourcePoolStatusRequestSpec;
  readonly status?: ResourcePoolStatusRequestStatus;
}

export interface ResourcePoolStatusRequestList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ResourcePoolStatusRequest[];
}

export interface ResourcePoolStatusRequestSpec {
  readonly driver: string;
  readonly poolName?: string;
  readonly limit?: number;
}

export interface ResourcePoolStatusRequestStatus {
  readonly poolCount: number;
  readonly pools?: readonly PoolStatus[];
  readonly conditions?: readonly Condition[];
}
