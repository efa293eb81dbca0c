/** The flag for OpenTelemetry traces, with kube-apiserver's name. */
import { Option } from "commander";

export interface TracingFlagOptions {
  readonly tracingConfigFile?: string;
}

export function tracingOption(): Option {
  return new Option(
    "--tracing-config-file <file>",
    "TracingConfiguration (apiserver.config.k8s.io/v1): where OpenTelemetry traces are sent, and how many",
  );
}
