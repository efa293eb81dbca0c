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
  /** `--default-not-ready-toleration-seconds` and `--default-unreachable-toleration-seconds`. */
  readonly tolerationSeconds?: AdmissionOptions["tolerationSeconds"];
}

/** The section of Pod Security that enforces a level in namespaces without labels. */
const podSecurity = (level: string) => ({
  apiVersion: "pod-security.admission.config.k8s.io/v1",
  kind: "PodSecurityConfiguration",
  defaults: { enforce: level, "enforce-version": "latest" },
});
const POD_SECURITY = "PodSecurity";

/** Nodes may only change their own objects. */
const ALWAYS = ["NodeRestriction"];

/** `podSecurityLevel`: enforced unless the user's file configures Pod Security. Default: that of Kubernetes, none. */
export function readAdmission(
  { enable = [], disable = [], configFile, tolerationSeconds }: AdmissionFlags,
  podSecurityLevel?: "baseline" | undefined,
): AdmissionOptions {
  const given = configFile === undefined ? undefined : readConfiguration(configFile);
  const own = podSecurityLevel === undefined ? [] : [[POD_SECURITY, podSecurity(podSecurityLevel)] as const];
  const configuration = own.length > 0 || given !== undefined ? new Map([...own, ...(given ?? [])]) : undefined;
  const wanted = ALWAYS.filter((name) => !disable.includes(name) && !enable.includes(name));
  return {
    enable: [...wanted, ...enable],
    // The service account controller creates it in every namespace.
    requireDefaultAccount: true,
    tolerationSeconds,
    disable: disable.filter((name) => name !== ""),
    ...(configuration !== undefined && { configuration }),
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
