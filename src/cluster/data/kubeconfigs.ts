/**
 * The administrator's kubeconfig: in the data directory, and merged into the user's own file as a context.
 *
 * 1. A context of the same name that belongs to another cluster is left as it is while that one runs. It is taken over
 *    from one that does not run. Either way the user is told.
 * 2. A context is removed only if it is this cluster's: clusters are told apart by their authorities.
 */
import type { Clock } from "#base";
import {
  type ClusterPki,
  type KubeconfigCluster,
  kubeconfigCluster,
  kubeconfigFor,
  mergeKubeconfig,
  removeFromKubeconfig,
  writeKubeconfig,
} from "#pki";
import { contextName } from "./cluster-names.ts";
import { type DataDir, dataDir, isInUse } from "./data-dir.ts";

export interface KubeconfigsOptions {
  readonly dir: DataDir;
  /** The user's. */
  readonly mergeInto: string;
  readonly url: string;
  readonly clock: Clock;
}

export interface Kubeconfigs {
  /** The user's file, unless it could not be changed. */
  readonly mergedInto: string | undefined;
  /** What happened to the user's file, unless only the context was added. */
  readonly note: string | undefined;
  /** Replaces the certificates in both files. */
  renew(pki: ClusterPki): Promise<void>;
}

export async function writeKubeconfigs(pki: ClusterPki, options: KubeconfigsOptions): Promise<Kubeconfigs> {
  const { dir, mergeInto, url, clock } = options;
  const context = contextName(dir.name);
  const writeOwn = async ({ ca, admin }: ClusterPki) => {
    const content = kubeconfigFor({ name: context, server: url, caPem: ca.certPem, client: admin });
    await writeKubeconfig(dir.kubeconfig, content);
    return () => mergeKubeconfig(mergeInto, content, { setCurrent: true, owner: dir.path, clock });
  };
  const merge = await writeOwn(pki);
  const { mergedInto, note } = await merged(merge, pki, options).catch((error: Error) => ({
    mergedInto: undefined,
    note: `${error.message} It was left as it is: use KUBECONFIG=${dir.kubeconfig}`,
  }));
  return {
    mergedInto,
    note,
    renew: async (fresh) => {
      const mergeFresh = await writeOwn(fresh);
      if (mergedInto !== undefined) await mergeFresh();
    },
  };
}

async function merged(
  merge: () => Promise<void>,
  { ca }: ClusterPki,
  { dir, mergeInto }: KubeconfigsOptions,
): Promise<Pick<Kubeconfigs, "mergedInto" | "note">> {
  const context = contextName(dir.name);
  const found = await kubeconfigCluster(mergeInto, context);
  const isOthers = found !== undefined && found.caPem !== ca.certPem && found.owner !== dir.path;
  if (isOthers && isRunning(found)) {
    return {
      mergedInto: undefined,
      note:
        `The context ${context} in ${mergeInto} is that of the cluster in ${found.owner}, which runs: it stays. Use ` +
        `KUBECONFIG=${dir.kubeconfig}, or give this cluster a name: \`k8ts up NAME\`.`,
    };
  }
  await merge();
  const whose = found?.owner === undefined ? `of ${found?.server}` : `that of the cluster in ${found.owner}`;
  return {
    mergedInto: mergeInto,
    note: isOthers ? `The context ${context} in ${mergeInto} was ${whose}: it is this cluster's now.` : undefined,
  };
}

function isRunning({ owner }: KubeconfigCluster): boolean {
  return owner !== undefined && isInUse(dataDir(owner));
}

/** The context of this cluster, if `file` has it; what was the current one before is the current one again. */
export async function removeContext(dir: DataDir, file: string, clock: Clock): Promise<void> {
  const context = contextName(dir.name);
  const [own, theirs] = [await kubeconfigCluster(dir.kubeconfig, context), await kubeconfigCluster(file, context)];
  if (theirs === undefined) return;
  const isOwn = theirs.owner === dir.path || (own?.caPem !== undefined && own.caPem === theirs.caPem);
  if (isOwn) await removeFromKubeconfig(file, context, { clock });
}
