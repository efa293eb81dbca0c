/** What claims ask for, with their classes looked up: one form for requests and for the alternatives of a request. */
import type { resource } from "#api";
import type { DeviceFeatures } from "./device-features.ts";
import { type Claim, claimText } from "./pod-claims.ts";

export type DeviceClass = resource.DeviceClass;

export interface Wanted {
  /** `request`, or `request/alternative`: as it stands in the allocation. */
  readonly name: string;
  readonly request: string;
  /** Empty for a request without alternatives. */
  readonly alternative: string;
  readonly class: DeviceClass;
  readonly selectors: readonly Selector[];
  readonly takesAll: boolean;
  readonly count: number;
  readonly adminAccess: boolean;
  readonly tolerations: readonly resource.DeviceToleration[];
  readonly capacity: Readonly<Record<string, string>> | undefined;
}

export interface Selector {
  readonly expression: string;
  /** Where it stands, for messages. */
  readonly class: string | undefined;
  readonly index: number;
}

export interface WantedRequest {
  readonly name: string;
  /** In order of preference; exactly one for a request without alternatives. */
  readonly options: readonly Wanted[];
  readonly isPrioritized: boolean;
}

export interface WantedClaim {
  readonly claim: Claim;
  readonly requests: readonly WantedRequest[];
  readonly constraints: readonly resource.DeviceConstraint[];
}

/** The limit of an allocation. */
export const MAX_DEVICES = 32;

/** Throws for what only a newer API can contain. */
export function wantedBy(
  claim: Claim,
  classNamed: (name: string) => DeviceClass | undefined,
  { prioritizedList }: Pick<DeviceFeatures, "prioritizedList"> = { prioritizedList: true },
): WantedClaim | { readonly fault: string } {
  const requests: WantedRequest[] = [];
  for (const { name, exactly, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
    if (exactly === undefined && firstAvailable.length === 0)
      return { fault: `resource claim ${claimText(claim)}, request ${name}: unknown request type` };
    if (exactly === undefined && !prioritizedList)
      return {
        fault: `resource claim ${claimText(claim)}, request ${name}: has subrequests, but the DRAPrioritizedList feature is disabled`,
      };
    const given =
      exactly === undefined
        ? firstAvailable.map((sub) => ({ full: `${name}/${sub.name}`, alternative: sub.name, asked: sub }))
        : [{ full: name, alternative: "", asked: exactly }];
    const options: Wanted[] = [];
    for (const { full, alternative, asked } of given) {
      const named = classNamed(asked.deviceClassName);
      if (named === undefined)
        return { fault: `request ${full}: device class ${asked.deviceClassName} does not exist` };
      options.push(wanted({ name: full, request: name, alternative }, named, asked, claim));
    }
    requests.push({ name, options, isPrioritized: exactly === undefined });
  }
  return { claim, requests, constraints: claim.spec.devices?.constraints ?? [] };
}

function wanted(
  names: Pick<Wanted, "name" | "request" | "alternative">,
  deviceClass: DeviceClass,
  asked: resource.ExactDeviceRequest | resource.DeviceSubRequest,
  claim: Claim,
): Wanted {
  const mode = asked.allocationMode ?? "ExactCount";
  if (mode !== "ExactCount" && mode !== "All")
    throw new Error(`claim ${claimText(claim)}, request ${names.name}: unsupported count mode ${mode}`);
  return {
    ...names,
    class: deviceClass,
    selectors: [
      ...selectorsOf(deviceClass.spec.selectors, deviceClass.metadata.name ?? ""),
      ...selectorsOf(asked.selectors, undefined),
    ],
    takesAll: mode === "All",
    count: Number(asked.count ?? 1),
    adminAccess: "adminAccess" in asked && asked.adminAccess === true,
    tolerations: asked.tolerations ?? [],
    capacity: asked.capacity?.requests,
  };
}

function selectorsOf(
  selectors: readonly resource.DeviceSelector[] = [],
  className: string | undefined,
): readonly Selector[] {
  return selectors.flatMap(({ cel }, index) =>
    cel === undefined ? [] : [{ expression: cel.expression, class: className, index }],
  );
}
