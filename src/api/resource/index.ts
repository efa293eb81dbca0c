/** The public surface of resource.k8s.io. */
import { sameVersion } from "../definition/other-version.ts";
import type { Kind } from "../machinery/kind.ts";
import { DeviceClass } from "./device-class.ts";
import { DeviceTaintRule } from "./device-taint-rule.ts";
import { ResourceClaim, ResourceClaimTemplate } from "./resource-claim.ts";
import { ResourcePoolStatusRequest } from "./resource-pool-status-request.ts";
import { ResourceSlice } from "./resource-slice.ts";
import { ResourceClaimTemplateV1beta1, ResourceClaimV1beta1, ResourceSliceV1beta1 } from "./v1beta1.ts";

const [v1beta1, v1beta2] = ["resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2"];

export const resourceKinds: readonly Kind[] = [
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
  sameVersion(v1beta2, DeviceClass),
  sameVersion(v1beta2, DeviceTaintRule),
  sameVersion(v1beta2, ResourceClaim),
  sameVersion(v1beta2, ResourceClaimTemplate),
  sameVersion(v1beta2, ResourceSlice),
  sameVersion(v1beta1, DeviceClass),
  ResourceClaimV1beta1,
  ResourceClaimTemplateV1beta1,
  ResourceSliceV1beta1,
  DeviceTaintRule,
  ResourcePoolStatusRequest,
];
