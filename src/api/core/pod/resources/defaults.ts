/** Defaults of resources: rounded to milli-units, requests default to limits. */

import { formatQuantity, parseQuantity, roundUpQuantity } from "../../../machinery/scalars/quantity.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Container, PodSpec, ResourceRequirements } from "../../../types/core-v1.ts";
import { containerTotals } from "./container-totals.ts";
import { isHugePages, isPodLevelResource } from "./names.ts";

const milli = -3;

type Amounts = Record<string, string>;

export function roundResources(resources: Draft<Pick<ResourceRequirements, "limits" | "requests">> | undefined): void {
  for (const amounts of [resources?.limits, resources?.requests]) {
    for (const [name, amount] of Object.entries(amounts ?? {})) {
      const rounded = formatQuantity(roundUpQuantity(parseQuantity(amount), milli));
      if (amounts !== undefined && rounded !== amount) amounts[name] = rounded;
    }
  }
}

/** A request that is not set defaults to the limit. */
export function defaultRequests({ resources }: Draft<Container>): void {
  const { limits } = resources ?? {};
  if (resources === undefined || limits === undefined || Object.keys(limits).length === 0) return;
  if (resources.requests !== undefined && isFilled(resources.requests, limits)) return;
  resources.requests = sorted({ ...limits, ...resources.requests });
}

/**
 * Pod-level requests and limits: a request that is not set defaults to the sum of the containers' requests, else to the
 * limit.
 */
export function defaultPodLevelResources(spec: Draft<PodSpec>): void {
  const { resources } = spec;
  if (resources === undefined) return;
  if (isEmpty(resources.limits) && isEmpty(resources.requests)) return;
  const limits: Amounts = { ...resources.limits };
  for (const [name, amount] of Object.entries(containerTotals(spec, "limits"))) {
    if (isHugePages(name) && resources.requests?.[name] === undefined) limits[name] ??= formatQuantity(amount);
  }
  if (!isEmpty(limits)) resources.limits = sorted(limits);

  if (isEmpty(resources.limits)) return;
  const requests: Amounts = { ...resources.requests };
  for (const [name, amount] of Object.entries(containerTotals(spec, "requests"))) {
    if (isPodLevelResource(name) && !isHugePages(name)) requests[name] ??= formatQuantity(amount);
  }
  for (const [name, amount] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= amount;
  if (!isEmpty(requests)) resources.requests = sorted(requests);
}

/** Every limit has a request, and the requests are sorted. */
function isFilled(requests: Amounts, limits: Amounts): boolean {
  for (const name in limits) if (requests[name] === undefined) return false;
  let last = "";
  for (const name in requests) {
    if (name < last) return false;
    last = name;
  }
  return true;
}

function sorted(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEmpty(amounts: Amounts | undefined): boolean {
  return Object.keys(amounts ?? {}).length === 0;
}
