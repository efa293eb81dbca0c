/**
 * A driver's controllers, with the calls to them recorded for `k8ts flow`: what a driver does, not what it is asked
 * about itself.
 */
import type { CallLog } from "#controllers";
import type { CsiDriver } from "../csi/index.ts";
import type { DriverControllers } from "./driver-controllers.ts";

export function recordedControllers(controllers: DriverControllers, calls: CallLog): DriverControllers {
  const { driverName, nodeTopologyKey } = controllers;
  const known = new WeakMap<CsiDriver, CsiDriver>();
  return {
    driverName,
    nodeTopologyKey,
    nodes: () => controllers.nodes(),
    of(node) {
      const driver = controllers.of(node);
      if (driver === undefined) return undefined;
      const recorded = known.get(driver) ?? recordedDriver(driver, driverName, calls);
      known.set(driver, recorded);
      return recorded;
    },
    onChange: (listener) => controllers.onChange(listener),
  };
}

function recordedDriver(driver: CsiDriver, name: string, calls: CallLog): CsiDriver {
  // The methods of a service need not be its own properties.
  const recorded = <S extends object>(service: S): S =>
    new Proxy(service, {
      get(target, method): unknown {
        const call: unknown = Reflect.get(target, method);
        if (typeof call !== "function" || typeof method !== "string" || isQuestion(method)) return call;
        return (...args: readonly unknown[]) => calls.record(name, method, async () => call.apply(target, args));
      },
    });
  const { Controller, GroupController } = driver;
  return { ...driver, Controller: recorded(Controller), GroupController: recorded(GroupController) };
}

function isQuestion(method: string): boolean {
  return method.endsWith("GetCapabilities") || method.startsWith("List") || method === "GetCapacity";
}
