/**
 * `k8ts image import`: an archive, a folder or an image of a daemon, into nodes.
 *
 *     source ──► a copy in the data directory ──► every running node; nodes that come later get the copy
 *     source ──► one node (--node)
 */
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ClusterError, type DataDir, imageTools, type NodeRecord, nodeTools } from "#cluster";

type ImageSource = Awaited<ReturnType<Awaited<ReturnType<typeof imageTools>>["openImage"]>>;

/** Returns the names by which Pods can use it. */
export async function importEverywhere(
  dir: DataDir,
  nodes: readonly NodeRecord[],
  source: string,
): Promise<readonly string[]> {
  const { keepArchive, partialArchive, recordArchive, siteNames } = await nodeTools();
  const { openImage } = await imageTools();
  const site = siteNames(dir.path);
  const partial = await partialArchive(site, `import-${process.pid}`);
  try {
    const image = await open(source);
    await pipeline(Readable.from(image.read()), createWriteStream(partial, { mode: 0o600 })).catch((error: unknown) => {
      throw new ClusterError(`${source} could not be read: ${(error as Error).message}.`, { cause: error });
    });
    const names = await importAll(nodes, source, await openImage(partial));
    if (names.length === 0) return names;
    const kept = await keepArchive(site, partial, names);
    for (const node of nodes) await recordArchive(node.names, kept, names);
    return names;
  } finally {
    await rm(partial, { force: true });
  }
}

export async function importInto(nodes: readonly NodeRecord[], source: string): Promise<readonly string[]> {
  return importAll(nodes, source, await open(source));
}

async function open(source: string): Promise<ImageSource> {
  const { DAEMON_PREFIX, daemonsOf, openDaemonImage, openImage } = await imageTools();
  if (!source.startsWith(DAEMON_PREFIX)) return openImage(source);
  const { findProgram } = await nodeTools();
  return openDaemonImage(source.slice(DAEMON_PREFIX.length), daemonsOf(process.env, findProgram));
}

async function importAll(nodes: readonly NodeRecord[], source: string, image: ImageSource): Promise<readonly string[]> {
  const { importImage } = await nodeTools();
  const named = await Promise.all(
    nodes.map(({ names }) =>
      importImage(names, image.read()).catch((error: unknown) => {
        throw new ClusterError(`${source} could not be imported into ${names.name}: ${(error as Error).message}.`, {
          cause: error,
        });
      }),
    ),
  );
  return named[0] ?? [];
}
