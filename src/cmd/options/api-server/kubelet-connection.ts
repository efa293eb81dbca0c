/** kube-apiserver's flags for its connections to kubelets. */
import { InvalidArgumentError, Option } from "commander";
import { type ApiServerConfig, ClusterError } from "#cluster";
import { milliseconds, wholeNumber } from "../values.ts";

export interface KubeletReachOptions {
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletClientCertificate?: string;
  readonly kubeletClientKey?: string;
  readonly kubeletPreferredAddressTypes?: readonly string[];
  readonly kubeletTimeout?: number;
  readonly kubeletPort?: number;
}

const ADDRESS_TYPES = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

export function kubeletReachOptions(): readonly Option[] {
  return [
    new Option(
      "--kubelet-certificate-authority <file>",
      "CA of kubelets' serving certificates; default: they are not verified",
    ),
    new Option("--kubelet-client-certificate <file>", "client certificate for kubelets"),
    new Option("--kubelet-client-key <file>", "private key of that certificate"),
    new Option(
      "--kubelet-preferred-address-types <types>",
      "Node address types to use, in order of preference",
    ).argParser(addressTypes),
    new Option("--kubelet-timeout <duration>", "timeout of requests to kubelets, such as 5s").argParser(milliseconds),
    new Option("--kubelet-port <port>", "port of kubelets whose Node names none (default: 10250)").argParser(
      wholeNumber(1, 65535),
    ),
  ];
}

export function kubeletReachFrom(options: KubeletReachOptions): NonNullable<ApiServerConfig["kubelets"]> {
  const { kubeletCertificateAuthority: certificateAuthority, kubeletTimeout: timeoutMs } = options;
  const { kubeletClientCertificate: certFile, kubeletClientKey: keyFile, kubeletPreferredAddressTypes } = options;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new ClusterError("--kubelet-client-certificate and --kubelet-client-key belong together: give both or none.");
  }
  return {
    certificateAuthority,
    ...(certFile !== undefined && keyFile !== undefined && { client: { certFile, keyFile } }),
    addressTypes: kubeletPreferredAddressTypes,
    timeoutMs,
    port: options.kubeletPort,
  };
}

function addressTypes(value: string): readonly string[] {
  const types = value.split(",").map((type) => type.trim());
  const wrong = types.find((type) => !ADDRESS_TYPES.includes(type));
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} is not one of ${ADDRESS_TYPES.join(", ")}.`);
  return types;
}
