/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64, Json } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { NodeSelector } from "./core-v1.ts";
import type { Condition, ListMeta } from "./meta-v1.ts";

export interface AllocatedDeviceStatus {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
  readonly conditions?: readonly Condition[];
  readonly data?: Json;
  readonly networkData?: NetworkDeviceData;
}

export interface AllocationResult {
  readonly devices?: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
  readonly allocationTimestamp?: string;
}

export interface CELDeviceSelector {
  readonly expression: string;
}

export interface CapacityRequestPolicy {
  readonly default?: string;
  readonly validValues?: readonly string[];
  readonly validRange?: CapacityRequestPolicyRange;
}

export interface CapacityRequestPolicyRange {
  readonly min: string;
  readonly max?: string;
  readonly step?: string;
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, string>>;
}

export interface Counter {
  readonly value: string;
}

export interface CounterSet {
  readonly name: string;
  readonly counters: Readonly<Record<string, Counter>>;
}

export interface Device {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly taints?: readonly DeviceTaint[];
  readonly bindsToNode?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly allowMultipleAllocations?: boolean;
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>;
}

export interface DeviceAllocationConfiguration {
  readonly source: "FromClaim" | "FromClass";
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceAllocationResult {
  readonly results?: readonly DeviceRequestAllocationResult[];
  readonly config?: readonly DeviceAllocationConfiguration[];
}

export interface DeviceAttribute {
  readonly int?: Int64;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
  readonly ints?: readonly Int64[];
  readonly bools?: readonly boolean[];
  readonly strings?: readonly string[];
  readonly versions?: readonly string[];
}

export interface DeviceCapacity {
  readonly value: string;
  readonly requestPolicy?: CapacityRequestPolicy;
}

export interface DeviceClaim {
  readonly requests?: readonly DeviceRequest[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly config?: readonly DeviceClaimConfiguration[];
}

export interface DeviceClaimConfiguration {
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClass {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: DeviceClassSpec;
}

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly DeviceClass[];
}

export interface DeviceClassSpec {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
}

export interface DeviceConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceConstraint {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
  readonly distinctAttribute?: string;
}

export interface DeviceCounterConsumption {
  readonly counterSet: string;
  readonly counters: Readonly<Record<string, Counter>>;
}

export interface DeviceRequest {
  readonly name: string;
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
}

export interface DeviceRequestAllocationResult {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly shareID?: string;
  readonly consumedCapacity?: Readonly<Record<string, string>>;
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceSubRequest {
  readonly name: string;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: "All" | "ExactCount";
  readonly count?: Int64;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
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

export interface DeviceToleration {
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly value?: string;
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly tolerationSeconds?: Int64;
}

export interface ExactDeviceRequest {
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: "All" | "ExactCount";
  readonly count?: Int64;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
}

export interface NetworkDeviceData {
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
  readonly hardwareAddress?: string;
}

export interface NodeAllocatableResourceMapping {
  readonly capacityKey?: string;
  readonly allocationMultiplier?: string;
}

export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  readonly parameters: Json;
}

export interface ResourceClaim {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
  readonly status?: ResourceClaimStatus;
}

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}

export interface ResourceClaimList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ResourceClaim[];
}

export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim;
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
  readonly devices?: readonly AllocatedDeviceStatus[];
}

export interface ResourceClaimTemplate {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimTemplateSpec;
}

export interface ResourceClaimTemplateList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ResourceClaimTemplate[];
}

export interface ResourceClaimTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: ResourceClaimSpec;
}

export interface ResourcePool {
  readonly name: string;
  readonly generation: Int64;
  readonly resourceSliceCount: Int64;
}

export interface ResourceSlice {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceSliceSpec;
}

export interface ResourceSliceList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly ResourceSlice[];
}

export interface ResourceSliceSpec {
  readonly driver: string;
  readonly pool: ResourcePool;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly perDeviceNodeSelection?: boolean;
  readonly sharedCounters?: readonly CounterSet[];
}
