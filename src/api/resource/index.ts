/** The public surface of resource.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { DeviceClass } from "./device-class.ts";
import { ResourceClaim, ResourceClaimTemplate } from "./resource-claim.ts";
import { ResourceSlice } from "./resource-slice.ts";

export const resourceKinds: readonly Kind[] = [DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice];
