/** What an API server needs of the cluster's authority: values, which can be sent to other threads. */
import type { ClusterPki, KeyPair } from "#pki";

export interface ServingPki extends Pick<ClusterPki, "dir" | "serviceAccount"> {
  readonly ca: Pick<KeyPair, "certPem">;
  readonly frontProxyCa: Pick<KeyPair, "certPem">;
  readonly apiserver: KeyPair;
  readonly frontProxyClient: KeyPair;
  readonly apiserverKubeletClient: KeyPair;
}

/** Without keys of authorities, and without what cannot be sent. */
export function servingPki({ dir, serviceAccount, ca, frontProxyCa, ...rest }: ServingPki): ServingPki {
  const pair = ({ certPem, keyPem }: KeyPair): KeyPair => ({ certPem, keyPem });
  const { keyPem, publicKeyPem } = serviceAccount;
  return {
    dir,
    serviceAccount: { keyPem, publicKeyPem },
    ca: { certPem: ca.certPem },
    frontProxyCa: { certPem: frontProxyCa.certPem },
    apiserver: pair(rest.apiserver),
    frontProxyClient: pair(rest.frontProxyClient),
    apiserverKubeletClient: pair(rest.apiserverKubeletClient),
  };
}
