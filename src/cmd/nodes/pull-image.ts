/** `k8ts image pull`: as a kubelet pulls for a Pod without pull secrets. */
import { realClock, silentLogger } from "#base";
import { ClusterError, type NodeRecord, nodeTools } from "#cluster";
import { credentialsOfServers } from "#kubelet";

export async function pullInto(nodes: readonly NodeRecord[], image: string): Promise<void> {
  await Promise.all(
    nodes.map((node) =>
      pull(node, image).catch((error: unknown) => {
        throw new ClusterError(`${image} could not be pulled to ${node.names.name}: ${(error as Error).message}`, {
          cause: error,
        });
      }),
    ),
  );
}

/** With each of the node's credentials, until one is right. */
async function pull({ names, run }: NodeRecord, image: string): Promise<void> {
  const { openRuntime, readRegistryCredentials } = await nodeTools();
  const known = run === undefined ? "" : await readRegistryCredentials(names, run);
  const credentials = credentialsOfServers(image, known).map(({ auth }) => auth);
  const runtime = openRuntime(names, { clock: realClock(), log: silentLogger });
  try {
    const problems: unknown[] = [];
    for (const auth of credentials.length > 0 ? credentials : [undefined]) {
      try {
        await runtime.images.pull(image, { auth });
        return;
      } catch (error) {
        problems.push(error);
      }
    }
    throw problems[0];
  } finally {
    await runtime.close();
  }
}
