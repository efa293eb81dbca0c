/** The API server of a running cluster, with its admin's credentials. */
import { ClusterError, commandFor, type DataDir, findRunning } from "#cluster";
import { type KubeconfigConnection, readKubeconfig } from "#pki";

/** Throws ClusterError if no cluster is running there, or if it is not ready to answer. */
export async function runningServer(dir: DataDir): Promise<KubeconfigConnection> {
  const found = await findRunning(dir);
  if (!found.running)
    throw new ClusterError(`No cluster is running in ${dir.path}: start it with \`${commandFor(dir, "up")}\`.`);
  if (found.state === undefined)
    throw new ClusterError(`The cluster in ${dir.path} is starting or stopping: try again in a moment.`);
  return readKubeconfig(dir.kubeconfig);
}
