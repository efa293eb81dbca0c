/** Admission options from flags and the file that they name. */
import { readFileSync } from "node:fs";
import { AdmissionConfigError, type AdmissionOptions, parseAdmissionConfiguration } from "#apiserver";
import { ClusterError } from "./errors.ts";

export interface AdmissionFlags {
  /** `--enable-admission-plugins`. */
  readonly enable?: readonly string[] | undefined;
  /** `--disable-admission-plugins`. */
  readonly disable?: readonly string[] | undefined;
  /** `--admission-control-config-file`. */
  readonly configFile?: string | undefined;
}

/** Nodes may only change their own objects. */
const ALWAYS = ["NodeRestriction"];

export function readAdmission({ enable = [], disable = [], configFile }: AdmissionFlags): AdmissionOptions {
  const wanted = ALWAYS.filter((name) => !disable.includes(name) && !enable.includes(name));
  return {
    enable: [...wanted, ...enable],
    // The service account controller creates it in every namespace.
    requireDefaultAccount: true,
    disable: disable.filter((name) => name !== ""),
    ...(configFile !== undefined && { configuration: readConfiguration(configFile) }),
  };
}

function readConfiguration(file: string) {
  const read = (path: string) => readFileSync(path, "utf8");
  try {
    return parseAdmissionConfiguration(read(file), file, read);
  } catch (error) {
    const why = error instanceof AdmissionConfigError ? error.message : `${(error as Error).message}.`;
    throw new ClusterError(`--admission-control-config-file: ${why}`, { cause: error });
  }
}
