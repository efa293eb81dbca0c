/**
 * CEL selectors of classes and requests, evaluated on devices.
 *
 * A result is kept as long as the device's slice stays as it is: thousands of Pods ask the same of the same devices.
 */
import { cel, celLibraries, type resource } from "#api";
import { LruMap } from "#base";

/** CELSelectorExpressionMaxCost of resource.k8s.io. */
const MAX_COST = 1_000_000;
const MAX_COMPILED = 1_000;

export type Match = boolean | { readonly fault: string };

type Compiled = { readonly program: cel.Program } | { readonly fault: string };

export class DeviceSelectors {
  readonly #environment = celLibraries.deviceSelectors(celLibraries.baseEnvironment());
  readonly #compiled = new LruMap<string, Compiled>(MAX_COMPILED);
  #results = new WeakMap<resource.Device, Map<string, Match>>();
  readonly #values = new WeakMap<resource.Device, ReturnType<typeof celLibraries.deviceValue>>();

  matches(expression: string, driver: string, device: resource.Device): Match {
    let results = this.#results.get(device);
    if (results === undefined) {
      results = new Map();
      this.#results.set(device, results);
    }
    let result = results.get(expression);
    if (result === undefined) {
      result = this.#evaluate(expression, driver, device);
      results.set(expression, result);
    }
    return result;
  }

  #evaluate(expression: string, driver: string, device: resource.Device): Match {
    const compiled = this.#compile(expression);
    if ("fault" in compiled) return { fault: `CEL compile error: ${compiled.fault}` };
    let value = this.#values.get(device);
    if (value === undefined) {
      value = celLibraries.deviceValue({ driver, ...(device as Omit<celLibraries.SelectableDevice, "driver">) });
      this.#values.set(device, value);
    }
    if (value instanceof cel.CelError) return { fault: `CEL runtime error: ${value.message}` };
    const result = compiled.program.evaluate({ device: value }, { budget: MAX_COST });
    if (!result.ok) return { fault: `CEL runtime error: ${result.error}` };
    if (typeof result.value !== "boolean")
      return { fault: "CEL runtime error: expression did not return a boolean value" };
    return result.value;
  }

  #compile(expression: string): Compiled {
    let compiled = this.#compiled.get(expression);
    if (compiled === undefined) {
      const result = this.#environment.compile(expression);
      compiled = result.ok ? { program: result.program } : { fault: result.issues };
      this.#compiled.set(expression, compiled);
    }
    return compiled;
  }
}
