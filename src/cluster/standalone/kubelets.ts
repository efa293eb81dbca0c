/** How a standalone API server reaches kubelets, from its flags and the files that they name. */
import type { ApiServerOptions } from "#apiserver";
import { readFlag } from "../config/flag-files.ts";

/** Connections to kubelets: addresses, client certificate, CA. */
export interface KubeletFlags {
  readonly certificateAuthority?: string | undefined;
  readonly client?: { readonly certFile: string; readonly keyFile: string };
  readonly addressTypes?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly port?: number | undefined;
}

export async function readKubelets({
  certificateAuthority,
  client,
  addressTypes,
  timeoutMs,
  port,
}: KubeletFlags): Promise<Pick<ApiServerOptions, "kubeletIdentity" | "kubelets">> {
  const tls = {
    ...(certificateAuthority !== undefined && {
      ca: await readFlag("--kubelet-certificate-authority", certificateAuthority),
    }),
    ...(client !== undefined && {
      cert: await readFlag("--kubelet-client-certificate", client.certFile),
      key: await readFlag("--kubelet-client-key", client.keyFile),
    }),
  };
  return {
    kubeletIdentity: () => tls,
    kubelets: {
      addressTypes,
      timeoutMs,
      port,
    },
  };
}
