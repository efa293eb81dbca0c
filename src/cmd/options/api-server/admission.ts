/** Admission flags, with kube-apiserver's names. */
import { Option } from "commander";
import type { ClusterConfig } from "#cluster";
import { integer } from "../values.ts";

export interface AdmissionFlagOptions {
  readonly enableAdmissionPlugins?: readonly string[];
  readonly disableAdmissionPlugins?: readonly string[];
  readonly admissionControlConfigFile?: string;
  readonly defaultNotReadyTolerationSeconds?: number;
  readonly defaultUnreachableTolerationSeconds?: number;
}

export function admissionOptions(): readonly Option[] {
  const names = (value: string, before: readonly string[] = []) => [
    ...before,
    ...value
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  ];
  return [
    new Option(
      "--enable-admission-plugins <names>",
      "admission plugins to enable in addition to the default ones",
    ).argParser(names),
    new Option("--disable-admission-plugins <names>", "admission plugins to disable").argParser(names),
    new Option("--admission-control-config-file <file>", "AdmissionConfiguration for the plugins"),
    ...["not-ready", "unreachable"].map((taint) =>
      new Option(
        `--default-${taint}-toleration-seconds <seconds>`,
        `how long Pods that do not say so stay on a node that is ${taint} (default: 300)`,
      ).argParser(integer),
    ),
  ];
}

export function admissionFrom(options: AdmissionFlagOptions): NonNullable<ClusterConfig["admission"]> {
  const { enableAdmissionPlugins: enable, disableAdmissionPlugins: disable, admissionControlConfigFile } = options;
  return {
    enable,
    disable,
    configFile: admissionControlConfigFile,
    tolerationSeconds: {
      notReady: options.defaultNotReadyTolerationSeconds,
      unreachable: options.defaultUnreachableTolerationSeconds,
    },
  };
}
