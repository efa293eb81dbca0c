/** The configuration of the simulated driver: which devices each node has, and what goes wrong with them. */
import { isExtendedResource, parseYaml, type resource } from "#api";

export interface DeviceConfig {
  /** The name of the driver. */
  readonly driver: string;
  readonly devices: readonly SimulatedDevice[];
  /** Extended resources, as a device plugin offers them. */
  readonly resources: readonly SimulatedResource[];
  /** Why calls fail, if they do. */
  readonly failures: Readonly<Partial<Record<"prepare" | "unprepare" | "allocate" | "preStart", string>>>;
}

export interface SimulatedDevice {
  /** What the ResourceSlice says. */
  readonly device: resource.Device;
  /** Variables of the containers that get it. */
  readonly env: Readonly<Record<string, string>>;
  /** A device file of the node that containers get as /dev/<driver>/<device>. */
  readonly file: string | undefined;
  /** What is wrong with it; undefined: nothing. */
  readonly problem: string | undefined;
  /** What claims that have it say of its network. */
  readonly network: resource.NetworkDeviceData | undefined;
}

/** Devices of a device plugin. */
export interface SimulatedResource {
  /** As Pods ask for it: `example.com/gpu`. */
  readonly name: string;
  readonly ids: readonly string[];
  readonly unhealthy: ReadonlySet<string>;
  /** The devices lie on them in turn. Empty: the plugin does not say where they lie. */
  readonly numaNodes: readonly number[];
  /** Variables of the containers that get some. */
  readonly env: Readonly<Record<string, string>>;
  /** A device file of the node that containers get as /dev/<name>/<id>. */
  readonly file: string | undefined;
  /** Whether it is to be called before containers start. */
  readonly preStart: boolean;
  /** Whether it says which devices it prefers: those that lie on one NUMA node. */
  readonly prefers: boolean;
  /** How it registers: at the kubelet's socket, or as plugins of other types do. */
  readonly via: "kubelet" | "registry";
}

export const DEFAULT_DRIVER = "devices.k8ts.dev";
const FIELDS = ["driver", "devices", "resources", "failures"];
const RESOURCE_FIELDS = ["name", "count", "ids", "unhealthy", "numaNodes", "env", "file", "preStart", "prefers", "via"];

type Given = Partial<Omit<resource.Device, "attributes" | "capacity">> & {
  readonly count?: number;
  readonly attributes?: Readonly<Record<string, string | number | boolean | resource.DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, string | resource.DeviceCapacity>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly problem?: string;
  readonly network?: resource.NetworkDeviceData;
};

type GivenResource = Partial<Omit<SimulatedResource, "unhealthy">> & {
  readonly count?: number;
  readonly unhealthy?: readonly string[];
};

/** Throws with one sentence. */
export function readDeviceConfig(text: string): DeviceConfig {
  const value = (parseYaml(text).value ?? {}) as {
    readonly devices?: readonly Given[];
    readonly resources?: readonly GivenResource[];
  } & Partial<Omit<DeviceConfig, "devices" | "resources">>;
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw new Error(`devices: there is no field ${unknown}; it has ${FIELDS.join(", ")}`);
  if (!Array.isArray(value.devices ?? value.resources)) throw new Error("devices: a list `devices` is needed");
  const devices = (value.devices ?? []).flatMap(devicesOf);
  const names = devices.map(({ device }) => device.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`devices: ${twice} is there twice`);
  const resources = (value.resources ?? []).map(resourceOf);
  return { driver: value.driver ?? DEFAULT_DRIVER, devices, resources, failures: value.failures ?? {} };
}

function resourceOf(given: GivenResource): SimulatedResource {
  const { name = "", count = 1, unhealthy = [], via = "kubelet", preStart = false, prefers = false } = given;
  const unknown = Object.keys(given).find((field) => !RESOURCE_FIELDS.includes(field));
  if (unknown !== undefined)
    throw new Error(`resources: there is no field ${unknown}; a resource has ${RESOURCE_FIELDS.join(", ")}`);
  if (!isExtendedResource(name)) throw new Error(`resources: "${name}" is no name of an extended resource`);
  if (via !== "kubelet" && via !== "registry") throw new Error(`resources: via is kubelet or registry, not ${via}`);
  const short = name.slice(name.indexOf("/") + 1);
  const ids = given.ids ?? Array.from({ length: count }, (_, i) => `${short}-${i}`);
  const stranger = unhealthy.find((id) => !ids.includes(id));
  if (stranger !== undefined) throw new Error(`resources: ${name} has no device ${stranger}`);
  const { env = {}, file, numaNodes = [] } = given;
  return { name, ids, unhealthy: new Set(unhealthy), numaNodes, env, file, preStart, prefers, via };
}

/** With a count, several: gpu-0, gpu-1 … */
function devicesOf(given: Given): readonly SimulatedDevice[] {
  const { name, count, attributes, capacity, env = {}, file, problem, network, ...rest } = given;
  if (name === undefined) throw new Error("devices: a device needs a name");
  const device: Omit<resource.Device, "name"> = {
    ...rest,
    ...(attributes !== undefined && { attributes: mapped(attributes, attributeOf) }),
    ...(capacity !== undefined && {
      capacity: mapped(capacity, (value) => (typeof value === "string" ? { value } : value)),
    }),
  };
  const names = count === undefined ? [name] : Array.from({ length: count }, (_, i) => `${name}-${i}`);
  return names.map((each) => ({ device: { name: each, ...device }, env, file, problem, network }));
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
