/** The administrator's kubeconfig: in the data directory, and merged into the user's own file. */
import type { Clock } from "#base";
import { type ClusterPki, kubeconfigFor, mergeKubeconfig, writeKubeconfig } from "#pki";

export const CONTEXT_NAME = "k8ts";

export interface KubeconfigsOptions {
  /** In the data directory. */
  readonly ownFile: string;
  /** The user's. */
  readonly mergeInto: string;
  readonly url: string;
  readonly clock: Clock;
}

export interface Kubeconfigs {
  /** The user's file, unless it could not be changed. */
  readonly mergedInto: string | undefined;
  /** Why the user's file was left as it is. */
  readonly note: string | undefined;
  /** Replaces the certificates in both files. */
  renew(pki: ClusterPki): Promise<void>;
}

export async function writeKubeconfigs(pki: ClusterPki, options: KubeconfigsOptions): Promise<Kubeconfigs> {
  const { ownFile, mergeInto, url, clock } = options;
  const writeOwn = async ({ ca, admin }: ClusterPki) => {
    const content = kubeconfigFor({ name: CONTEXT_NAME, server: url, caPem: ca.certPem, client: admin });
    await writeKubeconfig(ownFile, content);
    return () => mergeKubeconfig(mergeInto, content, { setCurrent: true, clock });
  };
  const merge = await writeOwn(pki);
  const note = await merge().then(
    () => undefined,
    (error: Error) => `${error.message} It was left as it is: use KUBECONFIG=${ownFile}`,
  );
  const mergedInto = note === undefined ? mergeInto : undefined;
  return {
    mergedInto,
    note,
    renew: async (fresh) => {
      const mergeFresh = await writeOwn(fresh);
      if (mergedInto !== undefined) await mergeFresh();
    },
  };
}
