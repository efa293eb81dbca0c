/** The variable `device` of device selectors: a published device with its attributes and capacities by domain. */
import { HashMap } from "../values/hash-map.ts";
import { StructValue } from "../values/struct-value.ts";
import { bool, dyn, map, string, type Type, withData } from "../values/type.ts";
import { CelError, MapValue, type Outcome, type Value } from "../values/value.ts";
import { record } from "./admission-types.ts";
import { quantityType, toQuantity } from "./quantity.ts";
import { toSemver } from "./semver.ts";

/** Exactly one of them is set. */
export interface SelectableAttribute {
  readonly int?: number;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
}

export interface SelectableDevice {
  readonly driver: string;
  /** By `domain/id`, or by `id` for the driver's own domain. */
  readonly attributes?: Readonly<Record<string, SelectableAttribute>>;
  readonly capacity?: Readonly<Record<string, { readonly value: string }>>;
  readonly allowMultipleAllocations?: boolean;
}

/** The API's limit for a device. */
const mostAttributes = 32;
const domain = withData(string, { maxSize: 63 });
const id = withData(string, { maxSize: 32 });

export const deviceType = record("kubernetes.DRADevice", {
  driver: withData(string, { maxSize: 63 }),
  attributes: byDomain(withData(dyn, { maxSize: 64 })),
  capacity: byDomain(quantityType),
  allowMultipleAllocations: bool,
});

/** Fails where the device holds what its API does not allow. */
export function deviceValue(device: SelectableDevice): Value | CelError {
  const attributes = grouped(device.driver, device.attributes ?? {}, attributeValue);
  const capacity = grouped(device.driver, device.capacity ?? {}, ({ value }) => toQuantity(value));
  if (attributes instanceof CelError) return attributes;
  if (capacity instanceof CelError) return capacity;
  return new StructValue(
    deviceType,
    new Map<string, Value>([
      ["driver", device.driver],
      ["attributes", attributes],
      ["capacity", capacity],
      ["allowMultipleAllocations", device.allowMultipleAllocations ?? false],
    ]),
  );
}

const empty = new HashMap();

/** A domain that the device does not have is an empty map, so that expressions need not check. */
class DomainMap extends MapValue {
  readonly #domains: HashMap;

  constructor(domains: HashMap) {
    super();
    this.#domains = domains;
  }

  override get size(): number {
    return this.#domains.size;
  }

  override get(key: Value): Outcome {
    return this.#domains.get(key) ?? empty;
  }

  override has(key: Value): boolean {
    return this.#domains.has(key);
  }

  override keys(): Iterable<Value> {
    return this.#domains.keys();
  }
}

function grouped<T>(
  driver: string,
  entries: Readonly<Record<string, T>>,
  read: (entry: T) => Outcome,
): DomainMap | CelError {
  const domains = new Map<string, HashMap>();
  for (const [name, entry] of Object.entries(entries)) {
    const slash = name.indexOf("/");
    const within = slash < 0 ? driver : name.slice(0, slash);
    const value = read(entry);
    if (value instanceof CelError) return new CelError(`attribute ${name}: ${value.message}`);
    const known = domains.get(within) ?? new HashMap();
    known.add(name.slice(slash + 1), value);
    domains.set(within, known);
  }
  return new DomainMap(HashMap.of(domains));
}

function attributeValue(attribute: SelectableAttribute): Outcome {
  if (attribute.int !== undefined) return BigInt(attribute.int);
  if (attribute.bool !== undefined) return attribute.bool;
  if (attribute.string !== undefined) return attribute.string;
  if (attribute.version === undefined) return new CelError("unsupported attribute value");
  const version = toSemver(attribute.version);
  return version instanceof CelError ? new CelError(`parse semantic version: ${version.message}`) : version;
}

function byDomain(value: Type): Type {
  return map(domain, map(id, value, { maxSize: mostAttributes }), { maxSize: mostAttributes });
}
