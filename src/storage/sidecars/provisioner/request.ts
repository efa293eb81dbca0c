/** From a claim and its class to a CreateVolume request. Pure: secrets, sources and topology are looked up before. */
import { type core, formatQuantity, parseQuantity, quantityOf, scaledValue, type storage } from "#api";
import type { CsiSent } from "../../csi/index.ts";
import type { Abilities } from "../calls/driver-access.ts";
import { messageOf } from "../calls/final-errors.ts";
import { driverParameters, PREFIX, type SecretUse, secretReference } from "../calls/secrets.ts";
import { capabilitiesFor, type VolumeClaim } from "../calls/volumes.ts";
import { ProvisioningError } from "./state.ts";

export const FS_TYPE = `${PREFIX}fstype`;

export interface ProvisionerSettings {
  /** `--default-fstype`. Default: none, the driver decides. */
  readonly defaultFsType: string;
  /** `--extra-create-metadata`: the driver learns the names of claim and volume. */
  readonly extraCreateMetadata: boolean;
  /** `--strict-topology`. */
  readonly strictTopology: boolean;
  /** `--immediate-topology`. */
  readonly immediateTopology: boolean;
  /** `--prevent-volume-mode-conversion`. */
  readonly preventVolumeModeConversion: boolean;
  /** `--volume-name-prefix` */
  readonly volumeNamePrefix: string;
  /** `--feature-gates=CrossNamespaceVolumeDataSource=true` */
  readonly crossNamespace: boolean;
}

export const DEFAULT_SETTINGS: ProvisionerSettings = {
  defaultFsType: "",
  extraCreateMetadata: false,
  strictTopology: false,
  immediateTopology: true,
  preventVolumeModeConversion: true,
  volumeNamePrefix: "pvc",
  crossNamespace: false,
};

export interface Wanted {
  readonly request: CsiSent<"CreateVolumeRequest">;
  readonly requiredBytes: bigint;
  readonly fsType: string;
  readonly secrets: Readonly<Partial<Record<SecretUse, Required<core.SecretReference>>>>;
}

export interface WantedFacts {
  readonly claim: VolumeClaim;
  readonly storageClass: storage.StorageClass;
  readonly attributesClass?: storage.VolumeAttributesClass | undefined;
  readonly abilities: Abilities;
  readonly settings: ProvisionerSettings;
}

export function volumeNameOf({ metadata }: VolumeClaim, { volumeNamePrefix }: ProvisionerSettings): string {
  return `${volumeNamePrefix}-${metadata.uid ?? ""}`;
}

/** Throws ProvisioningError for a claim that the driver cannot satisfy. */
export function wantedVolume(facts: WantedFacts): Wanted {
  const { claim, storageClass, attributesClass, abilities, settings } = facts;
  const { parameters = {}, mountOptions = [] } = storageClass;
  const { spec = {} } = claim;
  if (!abilities.createDelete)
    throw finished("CSI driver does not support dynamic provisioning of volumes: CREATE_DELETE_VOLUME is not reported");
  if (spec.selector !== undefined) throw finished("claim Selector is not supported");
  const name = volumeNameOf(claim, settings);
  const fsType = fsTypeOf(parameters, settings.defaultFsType);
  const isBlock = spec.volumeMode === "Block";
  const requiredBytes = bytesOf(spec.resources?.requests?.storage);
  const secrets = secretsOf(parameters, { volumeName: name, claim });
  return {
    requiredBytes,
    fsType: isBlock ? "" : fsType,
    secrets,
    request: {
      name,
      capacityRange: { requiredBytes: requiredBytes.toString() },
      volumeCapabilities: orFinished(() =>
        capabilitiesFor(
          { accessModes: spec.accessModes ?? [], isBlock, fsType, mountFlags: mountOptions },
          abilities.singleNodeMultiWriter,
        ),
      ),
      parameters: {
        ...orFinished(() => driverParameters(parameters), "failed to strip CSI Parameters of prefixed keys: "),
        ...(settings.extraCreateMetadata && namesOf(claim, name)),
      },
      ...(attributesClass !== undefined && { mutableParameters: { ...attributesClass.parameters } }),
    },
  };
}

/** Exact, and rounded up to whole bytes. */
export function bytesOf(quantity: string | undefined): bigint {
  return quantity === undefined ? 0n : scaledValue(parseQuantity(quantity), 0);
}

export function quantityText(bytes: bigint): string {
  return formatQuantity(quantityOf(bytes, "BinarySI"));
}

export function namesOf({ metadata }: VolumeClaim, volumeName: string): Record<string, string> {
  return {
    [`${PREFIX}pvc/name`]: metadata.name ?? "",
    [`${PREFIX}pvc/namespace`]: metadata.namespace ?? "",
    [`${PREFIX}pv/name`]: volumeName,
  };
}

function fsTypeOf(parameters: Readonly<Record<string, string>>, defaultFsType: string): string {
  const found = Object.keys(parameters).filter((key) => key.toLowerCase() === "fstype" || key === FS_TYPE);
  if (found.length > 1) throw finished(`fstype specified in parameters with both "fstype" and "${FS_TYPE}" keys`);
  const [key] = found;
  return (key === undefined ? "" : parameters[key]) || defaultFsType;
}

const USES: readonly SecretUse[] = [
  "provisioner",
  "controller-publish",
  "node-stage",
  "node-publish",
  "controller-expand",
  "node-expand",
];

function secretsOf(parameters: Readonly<Record<string, string>>, subject: Parameters<typeof secretReference>[2]) {
  try {
    const found = USES.map((use) => [use, secretReference(use, parameters, subject)] as const);
    return Object.fromEntries(found.filter(([, reference]) => reference !== undefined)) as Wanted["secrets"];
  } catch (error) {
    throw new ProvisioningError("no change", messageOf(error), { cause: error });
  }
}

function orFinished<T>(work: () => T, prefix = ""): T {
  try {
    return work();
  } catch (error) {
    throw new ProvisioningError("finished", `${prefix}${messageOf(error)}`, { cause: error });
  }
}

function finished(message: string): ProvisioningError {
  return new ProvisioningError("finished", message);
}
