/** The bounds of a LimitRange: min, max, and maxLimitRequestRatio. */
import {
  compareQuantities,
  type core,
  formatQuantity,
  parseQuantity,
  podLimits,
  podRequests,
  type Quantity,
  scaledValue,
  type Totals,
} from "#api";

interface Asked {
  readonly requests: Totals;
  readonly limits: Totals;
}

export function podFaults({ spec }: core.LimitRange, pod: core.Pod): readonly string[] {
  const faults: string[] = [];
  for (const item of spec?.limits ?? []) {
    if (item.type === "Container") {
      for (const { resources } of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]) {
        faults.push(...boundFaults(item, { requests: read(resources?.requests), limits: read(resources?.limits) }));
      }
    } else if (item.type === "Pod") {
      const options = { overhead: false };
      faults.push(...boundFaults(item, { requests: podRequests(pod, options), limits: podLimits(pod, options) }));
    }
  }
  return faults;
}

/** Claims have no limits: both bounds apply to requests. */
export function claimFaults({ spec }: core.LimitRange, claim: core.PersistentVolumeClaim): readonly string[] {
  const requests = read(claim.spec?.resources?.requests);
  return (spec?.limits ?? [])
    .filter(({ type }) => type === "PersistentVolumeClaim")
    .flatMap((item) => [
      ...each(item.min, (name, bound) => minFault(item.type, name, bound, { requests, limits: {} })),
      ...each(item.max, (name, bound) => {
        const request = requests[name];
        const rule = `maximum ${name} usage per ${item.type} is ${formatQuantity(bound)}`;
        if (request === undefined) return `${rule}.  No request is specified`;
        return isMore(request, bound) ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
      }),
    ]);
}

function boundFaults({ type, min, max, maxLimitRequestRatio }: core.LimitRangeItem, asked: Asked): readonly string[] {
  return [
    ...each(min, (name, bound) => minFault(type, name, bound, asked)),
    ...each(max, (name, bound) => maxFault(type, name, bound, asked)),
    ...each(maxLimitRequestRatio, (name, bound) => ratioFault(type, name, bound, asked)),
  ];
}

function minFault(type: string, name: string, least: Quantity, { requests, limits }: Asked): string | undefined {
  const [request, limit] = [requests[name], limits[name]];
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (isMore(least, request)) return `${rule}, but request is ${formatQuantity(request)}`;
  if (limit !== undefined && isMore(least, limit)) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function maxFault(type: string, name: string, most: Quantity, { requests, limits }: Asked): string | undefined {
  const [request, limit] = [requests[name], limits[name]];
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (isMore(limit, most)) return `${rule}, but limit is ${formatQuantity(limit)}`;
  if (request !== undefined && isMore(request, most)) return `${rule}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function ratioFault(type: string, name: string, most: Quantity, { requests, limits }: Asked): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  const thousandths = (amount: Quantity | undefined) => (amount === undefined ? 0 : Number(scaledValue(amount, -3)));
  const [request, limit] = [thousandths(requests[name]), thousandths(limits[name])];
  if (request === 0) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = limit / request;
  if (ratio * 1000 <= thousandths(most)) return undefined;
  return `${rule}, but provided ratio is ${ratio.toFixed(6)}`;
}

/** Sorted by name, so that the same Pod gets the same message each time. */
function each(
  bounds: Readonly<Record<string, string>> | undefined,
  fault: (name: string, bound: Quantity) => string | undefined,
): readonly string[] {
  return Object.entries(read(bounds))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, bound]) => fault(name, bound) ?? []);
}

function isMore(a: Quantity, b: Quantity): boolean {
  return compareQuantities(a, b) > 0;
}

function read(amounts: Readonly<Record<string, string>> | undefined): Totals {
  return Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));
}
