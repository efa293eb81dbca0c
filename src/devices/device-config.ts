/** The configuration of the simulated driver: which devices each node has, and what goes wrong with them. */
import { parseYaml, type resource } from "#api";

export interface DeviceConfig {
  /** The name of the driver. */
  readonly driver: string;
  readonly devices: readonly SimulatedDevice[];
  /** Why calls fail, if they do. */
  readonly failures: { readonly prepare?: string; readonly unprepare?: string };
}

export interface SimulatedDevice {
  /** What the ResourceSlice says. */
  readonly device: resource.Device;
  /** Variables of the containers that get it. */
  readonly env: Readonly<Record<string, string>>;
  /** A device file of the node that containers get as /dev/<driver>/<device>. */
  readonly file: string | undefined;
}

export const DEFAULT_DRIVER = "devices.k8ts.dev";
const FIELDS = ["driver", "devices", "failures"];

type Given = Partial<Omit<resource.Device, "attributes" | "capacity">> & {
  readonly count?: number;
  readonly attributes?: Readonly<Record<string, string | number | boolean | resource.DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, string | resource.DeviceCapacity>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
};

/** Throws with one sentence. */
export function readDeviceConfig(text: string): DeviceConfig {
  const value = (parseYaml(text).value ?? {}) as { devices?: readonly Given[] } & Partial<
    Omit<DeviceConfig, "devices">
  >;
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw new Error(`devices: there is no field ${unknown}; it has ${FIELDS.join(", ")}`);
  if (!Array.isArray(value.devices)) throw new Error("devices: a list `devices` is needed");
  const devices = value.devices.flatMap(devicesOf);
  const names = devices.map(({ device }) => device.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`devices: ${twice} is there twice`);
  return { driver: value.driver ?? DEFAULT_DRIVER, devices, failures: value.failures ?? {} };
}

/** With a count, several: gpu-0, gpu-1 … */
function devicesOf(given: Given): readonly SimulatedDevice[] {
  const { name, count, attributes, capacity, env = {}, file, ...rest } = given;
  if (name === undefined) throw new Error("devices: a device needs a name");
  const device: Omit<resource.Device, "name"> = {
    ...rest,
    ...(attributes !== undefined && { attributes: mapped(attributes, attributeOf) }),
    ...(capacity !== undefined && {
      capacity: mapped(capacity, (value) => (typeof value === "string" ? { value } : value)),
    }),
  };
  const names = count === undefined ? [name] : Array.from({ length: count }, (_, i) => `${name}-${i}`);
  return names.map((each) => ({ device: { name: each, ...device }, env, file }));
}

function attributeOf(value: string | number | boolean | resource.DeviceAttribute): resource.DeviceAttribute {
  switch (typeof value) {
    case "string":
      return { string: value };
    case "number":
      return { int: value };
    case "boolean":
      return { bool: value };
    default:
      return value;
  }
}

function mapped<T, R>(record: Readonly<Record<string, T>>, each: (value: T) => R): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, each(value)]));
}
