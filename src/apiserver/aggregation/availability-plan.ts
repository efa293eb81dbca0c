/**
 * The condition Available of an APIService, as far as it can be derived without a request to its server: pure.
 */
import { type ConditionFacts, type core, type discovery, formatTime, goQuote, instantOf } from "#api";
import { type ApiService, availableOf, type Condition, type ServiceAt } from "./api-service.ts";

type Status = NonNullable<ApiService["status"]>;

export const LOCAL: ConditionFacts = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};
export const PASSED: ConditionFacts = { status: "True", reason: "Passed", message: "all checks passed" };

export interface Surroundings {
  readonly service: core.Service | undefined;
  /** The EndpointSlices of the Service. */
  readonly slices: readonly discovery.EndpointSlice[];
}

/** Undefined: everything is in place, and its server has to be probed. */
export function faultOf(
  { namespace, name, port }: ServiceAt,
  { service, slices }: Surroundings,
): ConditionFacts | undefined {
  const where = `service/${name} in ${goQuote(namespace)}`;
  if (service === undefined) return unavailable("ServiceNotFound", `${where} is not present`);
  if ((service.spec?.type ?? "ClusterIP") !== "ClusterIP") return undefined;
  const found = (service.spec?.ports ?? []).find((one) => one.port === port);
  if (found === undefined) return unavailable("ServicePortError", `${where} is not listening on port ${port}`);
  if (slices.length === 0) return unavailable("EndpointsNotFound", `cannot find endpointslices for ${where}`);
  const { name: portName = "" } = found;
  if (!slices.some((slice) => isReady(slice, portName))) {
    const message = `endpointslices for ${where} have no addresses with port name ${goQuote(portName)}`;
    return unavailable("MissingEndpoints", message);
  }
  return undefined;
}

export const FAILED_CHECK = "FailedDiscoveryCheck";

export function failedDiscovery(message: string): ConditionFacts {
  return unavailable(FAILED_CHECK, message);
}

/** Returns the same status if nothing changes: several servers on one store come to rest. */
export function withAvailable(service: ApiService, facts: ConditionFacts, now: number): Status {
  const status = service.status ?? {};
  const before = availableOf(service);
  const isSame = before?.status === facts.status && before.reason === facts.reason && before.message === facts.message;
  if (isSame) return status;
  const lastTransitionTime =
    before?.status === facts.status && before.lastTransitionTime !== undefined
      ? before.lastTransitionTime
      : formatTime(instantOf(now));
  const after: Condition = { type: "Available", ...facts, lastTransitionTime };
  const conditions = status.conditions ?? [];
  return {
    ...status,
    conditions: before === undefined ? [...conditions, after] : conditions.map((it) => (it === before ? after : it)),
  };
}

function unavailable(reason: string, message: string): ConditionFacts {
  return { status: "False", reason, message };
}

function isReady({ endpoints = [], ports = [] }: discovery.EndpointSlice, portName: string): boolean {
  if (!endpoints.some(({ conditions }) => conditions?.ready !== false)) return false;
  return ports.some(({ name = "", port }) => name === portName && port !== undefined);
}
